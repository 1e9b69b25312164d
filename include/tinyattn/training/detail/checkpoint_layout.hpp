// SPDX-License-Identifier: MIT
//
// What a checkpoint says about its parameters: their names, types and extents. The compiler makes
// this text of a model's type.
#pragma once

#include "tinyattn/convolution.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/weights.hpp"

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
// name before it; the rest of the name; "="; how it is stored; its extents, as in "16x4"; a line
// feed. Writes nothing if `to` is null, but counts.
struct LayoutWriter {
  static constexpr std::size_t longest = 255;

  char* to = nullptr;
  std::size_t size = 0;
  char name[longest] = {}, before[longest] = {};
  std::size_t length = 0, length_before = 0;

  constexpr void put(char c) noexcept {
    if (to != nullptr) to[size] = c;
    ++size;
  }
  constexpr void put_number(std::size_t number) noexcept {
    if (number >= 10) put_number(number / 10);
    put(static_cast<char>('0' + number % 10));
  }

  constexpr void push(char c) noexcept { name[length++] = c; }
  constexpr void push_number(std::size_t number) noexcept {
    if (number >= 10) push_number(number / 10);
    push(static_cast<char>('0' + number % 10));
  }
  constexpr void push_dot() noexcept {
    if (length != 0) push('.');
  }

  constexpr void put_name() noexcept {
    std::size_t shared = 0;
    while (shared < length && shared < length_before && name[shared] == before[shared]) ++shared;
    put(static_cast<char>(shared));
    for (std::size_t i = shared; i < length; ++i) put(name[i]);
    put('=');
    for (std::size_t i = 0; i < length; ++i) before[i] = name[i];
    length_before = length;
  }
};

// How PyTorch has the weight of a layer: as it lies here, or else transposed, for several tokens
// that follow one another.
template <class Layer>
inline constexpr std::size_t tokens_of_weight = 0;
template <std::size_t In, std::size_t Out, bool Bias, Weights weights>
inline constexpr std::size_t tokens_of_weight<Linear<In, Out, Bias, weights>> = 1;
template <Conv1dConfig config>
inline constexpr std::size_t tokens_of_weight<Conv1d<config>> = config.kernel;

// What a checkpoint can hold.
template <class Parameter>
inline constexpr bool is_int8_matrix = false;
template <std::size_t In, std::size_t Out>
inline constexpr bool is_int8_matrix<Int8Matrix<In, Out>> = true;
template <class Parameter>
consteval bool check_saved() noexcept {
  if constexpr (is_int8_matrix<Parameter>) {
    return true;
  } else {
    constexpr bool floats = holds_floats<Parameter> && !has_gaps<Parameter>;
    static_assert(floats, "a checkpoint holds tensors of float, and weights of int8");
    return floats;
  }
}

// "f" and extents: floats, as in PyTorch. "T": floats [in, out], the transpose of PyTorch's. "C3x":
// of a convolution with a kernel of 3. "q", or "Q" of a layer: int8, rows of codes and a scale for
// each row.
template <class Parameter>
constexpr void put_type(LayoutWriter& writer, std::size_t tokens) noexcept {
  if constexpr (is_int8_matrix<Parameter>) {
    constexpr std::size_t out = sizeof(Parameter::scale) / sizeof(float);
    writer.put('q');
    writer.put_number(out);
    writer.put('x');
    writer.put_number(Parameter::size() / out);
    if (tokens > 1) {
      writer.put('/');
      writer.put_number(tokens);
    }
  } else {
    const bool is_weight = tokens != 0 && LayoutOf<Parameter>::rank == 2;
    writer.put(is_weight ? 'T' : 'f');
    for (std::size_t axis = 0; axis < LayoutOf<Parameter>::rank; ++axis) {
      if (axis != 0) writer.put('x');
      writer.put_number(Parameter::extent(axis));
    }
    if (is_weight && tokens > 1) {
      writer.put('/');
      writer.put_number(tokens);
    }
  }
  writer.put('\n');
}

template <class... Members>
struct MembersOf {};
struct ListMembers {
  template <Name... list, class... Members>
  auto operator()(Names<list...>, Members&...) const -> MembersOf<Names<list...>, Members...>;
};

template <class Member>
constexpr void write_layout(LayoutWriter& writer, std::size_t tokens) noexcept;
template <Name... list, class... Members>
constexpr void write_layouts(LayoutWriter& writer, std::size_t tokens,
                             MembersOf<Names<list...>, Members...>) noexcept {
  const std::size_t length = writer.length;
  const auto write_one = [&]<class Member>(const char* name, std::type_identity<Member>) {
    writer.push_dot();
    for (; *name != 0; ++name) writer.push(*name);
    write_layout<Member>(writer, tokens);
    writer.length = length;
  };
  (write_one(list.text, std::type_identity<Members>{}), ...);
}
template <class Member>
constexpr void write_layout(LayoutWriter& writer, std::size_t tokens) noexcept {
  if constexpr (std::is_array_v<Member>) {
    const std::size_t length = writer.length;
    for (std::size_t i = 0; i < std::extent_v<Member>; ++i) {
      writer.push_dot();
      writer.push_number(i);
      write_layout<std::remove_extent_t<Member>>(writer, tokens);
      writer.length = length;
    }
  } else if constexpr (parameter_like<Member>) {
    if constexpr (!std::is_empty_v<Member> && check_saved<Member>()) {
      writer.put_name();
      put_type<Member>(writer, tokens);
    }
  } else if constexpr (!std::is_empty_v<Member>) {
    write_layouts(writer, tokens_of_weight<Member>,
                  decltype(members_of(std::declval<Member&>(), ListMembers{})){});
  }
}

template <class Model>
consteval std::size_t size_of_layout() noexcept {
  LayoutWriter writer;
  write_layout<Model>(writer, 0);
  return writer.size;
}
template <class Model>
struct LayoutText {
  char text[size_of_layout<Model>()];
};
template <class Model>
inline constexpr LayoutText<Model> layout_of = [] {
  LayoutText<Model> layout{};
  LayoutWriter writer{layout.text};
  write_layout<Model>(writer, 0);
  return layout;
}();
template <class Model>
inline constexpr std::uint32_t crc_of_layout = crc32(0, layout_of<Model>.text,
                                                     size_of_layout<Model>());

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
