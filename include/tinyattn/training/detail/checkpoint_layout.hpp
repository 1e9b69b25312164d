// SPDX-License-Identifier: MIT
//
// What a checkpoint says about its parameters: their names, types and extents. The compiler makes
// this text of a model's type.
#pragma once

#include "tinyattn/convolution.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// --- CRC-32, that of zlib: four bits at a time, by a table of 64 bytes ---

inline constexpr std::uint32_t crc_of_nibble[] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

// Returns the CRC of bytes that follow others, whose CRC is `crc`; that of none is 0.
[[gnu::noinline]] constexpr std::uint32_t crc32(std::uint32_t crc, const auto* bytes,
                                                std::size_t count) noexcept {
  crc = ~crc;
  for (std::size_t i = 0; i < count; ++i) {
    crc ^= static_cast<std::uint8_t>(bytes[i]);
    crc = crc >> 4 ^ crc_of_nibble[crc & 15u];
    crc = crc >> 4 ^ crc_of_nibble[crc & 15u];
  }
  return ~crc;
}

// --- The text ---

// Writes an entry for each parameter: a byte that says how many characters its name shares with the
// name before it; the rest of the name; "="; its type and extents, as in "f16x4"; a line feed.
// Writes nothing if `to` is null, but counts.
struct LayoutWriter {
  char* to = nullptr;
  std::size_t size = 0;
  const char* name_before = "";

  constexpr void put(char c) noexcept {
    if (to != nullptr) to[size] = c;
    ++size;
  }
  constexpr void put_number(std::size_t number) noexcept {
    if (number >= 10) put_number(number / 10);
    put(static_cast<char>('0' + number % 10));
  }
  constexpr void put_name(const char* name) noexcept {
    std::size_t shared = 0;
    while (name[shared] != 0 && name[shared] == name_before[shared]) ++shared;
    put(static_cast<char>(shared));
    for (const char* rest = name + shared; *rest != 0; ++rest) put(*rest);
    put('=');
    name_before = name;
  }

  // "f": floats, as in PyTorch. "T": floats [in, out], the transpose of PyTorch's weight. "q":
  // int8, rows of codes and a scale for each row. A weight may be that of several tokens which
  // follow one another: "/" and their number.
  template <class Parameter>
  constexpr void put_type(std::size_t tokens_of_weight) noexcept {
    bool is_weight = tokens_of_weight != 0;
    if constexpr (tensor_like<Parameter>) {
      is_weight = is_weight && LayoutOf<Parameter>::rank == 2;
      put(is_weight ? 'T' : 'f');
      for (std::size_t axis = 0; axis < LayoutOf<Parameter>::rank; ++axis) {
        if (axis != 0) put('x');
        put_number(Parameter::extent(axis));
      }
    } else {
      constexpr std::size_t out = sizeof(Parameter::scale) / sizeof(float);
      put('q');
      put_number(out);
      put('x');
      put_number(Parameter::size() / out);
    }
    if (is_weight && tokens_of_weight > 1) {
      put('/');
      put_number(tokens_of_weight);
    }
    put('\n');
  }
};

// How many tokens a layer's weight spans if PyTorch stores it transposed; 0 for other layers.
template <class Layer>
inline constexpr std::size_t tokens_of_weight = 0;
template <std::size_t In, std::size_t Out, bool Bias, Weights weights>
inline constexpr std::size_t tokens_of_weight<Linear<In, Out, Bias, weights>> = 1;
template <Conv1dConfig config>
inline constexpr std::size_t tokens_of_weight<Conv1d<config>> = config.kernel;

// Writes the entries of a member of a module, as for_each_parameter visits its parameters: those of
// a type, without an object of it.
template <Name path, class Member>
constexpr void write_layout(LayoutWriter& writer, std::size_t tokens) noexcept {
  if constexpr (std::is_array_v<Member>) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      using Element = std::remove_extent_t<Member>;
      (write_layout<joined(path, number_name<Index>()), Element>(writer, tokens), ...);
    }
    (std::make_index_sequence<std::extent_v<Member>>{});
  } else if constexpr (std::is_empty_v<Member>) {
    return;  // absent
  } else if constexpr (!parameter_like<Member>) {
    const auto of_members = []<Name... list, class... Members>(Names<list...>, Members & ...) {
      return [](LayoutWriter& to) {
        (write_layout<joined(path, list), Members>(to, tokens_of_weight<Member>), ...);
      };
    };
    decltype(members_of(std::declval<Member&>(), of_members)){}(writer);
  } else {
    writer.put_name(path.text);
    writer.put_type<Member>(tokens);
  }
}

// Writes the text of a model, or only counts. Returns its size.
template <class Model>
constexpr std::size_t write_layout(char* to) noexcept {
  LayoutWriter writer{to};
  write_layout<"", Model>(writer, 0);
  return writer.size;
}
template <class Model>
inline constexpr auto layout_of = [] {
  Vector<char, write_layout<Model>(nullptr)> text{};
  write_layout<Model>(text.data());
  return text;
}();
template <class Model>
inline constexpr std::uint32_t crc_of_layout = crc32(0, layout_of<Model>.data(),
                                                     layout_of<Model>.size());

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
