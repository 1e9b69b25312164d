// SPDX-License-Identifier: MIT
//
// A slot of flash that holds a checkpoint, in blocks: a header, the layout, the data, and the CRC
// of all that, which is written last.
#pragma once

#include "tinyattn/training/detail/checkpoint_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// <span> does not compile if the program has macros of these names, as Arduino's has.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max
#include <span>
#pragma pop_macro("max")
#pragma pop_macro("min")

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

inline constexpr std::size_t block_bytes = 32;

constexpr std::size_t in_blocks(std::size_t bytes) noexcept {
  return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}

// --- Streams of bytes, in blocks ---

// Words have their low byte first, on every machine. What transfers a tensor is not inlined, since
// a model has many.
template <class Flash>
struct SlotWriter {
  Flash& flash;
  std::size_t slot, offset = 0, used = 0;
  std::uint32_t crc = 0;  // of the blocks so far
  std::byte block[block_bytes] = {};

  constexpr void put(std::byte byte) noexcept {
    block[used++] = byte;
    if (used == block_bytes) flush();
  }
  [[gnu::noinline]] constexpr void put(std::uint32_t word) noexcept {
    for (int i = 0; i < 4; ++i) put(static_cast<std::byte>(word >> 8 * i));
  }
  template <class Element>
  [[gnu::noinline]] constexpr void transfer(const Element* from, std::size_t count) noexcept {
    using Stored = std::conditional_t<std::is_same_v<Element, float>, std::uint32_t, std::byte>;
    for (std::size_t i = 0; i < count; ++i) put(__builtin_bit_cast(Stored, from[i]));
  }
  // Fills the last block.
  constexpr void pad() noexcept {
    while (used != 0) put(std::byte{0});
  }
  [[gnu::noinline]] constexpr void flush() noexcept {
    crc = crc32(crc, block, block_bytes);
    static_cast<void>(flash.write(slot, offset, std::span<const std::byte, block_bytes>(block)));
    offset += block_bytes;
    used = 0;
  }
};

template <class Flash>
struct SlotReader {
  Flash& flash;
  std::size_t slot, offset = 0, used = block_bytes;
  std::byte block[block_bytes] = {};

  // lwIP has a macro named read.
  [[gnu::noinline]] constexpr void next_block() noexcept {
    static_cast<void>((flash.read)(slot, offset, std::span<std::byte, block_bytes>(block)));
    offset += block_bytes;
    used = 0;
  }
  constexpr std::byte get() noexcept {
    if (used == block_bytes) next_block();
    return block[used++];
  }
  [[gnu::noinline]] constexpr std::uint32_t word() noexcept {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(get()) << 8 * i;
    return word;
  }
  template <class Element>
  [[gnu::noinline]] constexpr void transfer(Element* to, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if constexpr (std::is_same_v<Element, float>)
        to[i] = __builtin_bit_cast(float, word());
      else
        to[i] = static_cast<Element>(get());
  }
};

// Writes a parameter, or reads it.
template <class Parameter>
constexpr void transfer(auto& stream, Parameter& parameter) noexcept {
  if constexpr (tensor_like<Parameter>) {
    stream.transfer(parameter.data(), parameter.size());
  } else {
    stream.transfer(parameter.code, sizeof(parameter.code));
    stream.transfer(parameter.scale, sizeof(parameter.scale) / sizeof(float));
  }
}

// --- Slots ---

// The header is these words, after the magic one, and the CRC of all five.
struct SlotHeader {
  static constexpr std::uint32_t magic = 0x3141'4154;  // "TAA1"

  std::uint32_t sequence, layout_crc, layout_bytes, data_bytes;

  // Where the data begin, and where the last block lies, which has the CRC of all before it.
  constexpr std::size_t data() const noexcept { return block_bytes + in_blocks(layout_bytes); }
  constexpr std::size_t end() const noexcept { return data() + in_blocks(data_bytes); }
};

template <class Model>
constexpr SlotHeader header_of(std::uint32_t sequence) noexcept {
  return {sequence, crc_of_layout<Model>, size_of_layout<Model>(), bytes_of_parameters<Model>()};
}

// Writes a model, and the CRC of all last.
template <class Model, class Flash>
constexpr void write_slot(const Model& model, Flash& flash, std::size_t slot,
                          std::uint32_t sequence) noexcept {
  static_cast<void>(flash.erase(slot));
  SlotWriter<Flash> writer{flash, slot};
  const SlotHeader header = header_of<Model>(sequence);
  for (const std::uint32_t word :
       {SlotHeader::magic, sequence, header.layout_crc, header.layout_bytes, header.data_bytes})
    writer.put(word);
  writer.put(crc32(0, writer.block, writer.used));
  writer.pad();
  writer.transfer(layout_of<Model>.data(), header.layout_bytes);
  writer.pad();
  for_each_parameter(model,
                     [&](const char*, const auto& parameter) { transfer(writer, parameter); });
  writer.pad();
  writer.put(std::uint32_t{writer.crc});
  writer.pad();
}

// What a slot holds: a whole checkpoint, and that with the layout of the caller's model.
struct Slot {
  SlotHeader header;
  bool is_whole, is_own;
};

// Reads a slot, but nothing beyond the last block of the caller's model, whose header is `own`:
// flash may end there. So a larger model is whole if its header is.
template <class Flash>
[[gnu::noinline]] constexpr Slot read_slot(Flash& flash, std::size_t slot,
                                           const SlotHeader& own) noexcept {
  SlotReader<Flash> reader{flash, slot};
  const std::uint32_t magic = reader.word();
  const SlotHeader header{reader.word(), reader.word(), reader.word(), reader.word()};
  const std::uint32_t crc_of_header = crc32(0, reader.block, reader.used);
  if (magic != SlotHeader::magic || reader.word() != crc_of_header) return {};
  if (header.end() > own.end()) return {header, true, false};
  std::uint32_t crc = crc32(0, reader.block, block_bytes);
  while (reader.offset < header.end()) {
    reader.next_block();
    crc = crc32(crc, reader.block, block_bytes);
  }
  reader.next_block();
  const bool is_whole = reader.word() == crc;
  return {header, is_whole,
          is_whole && header.layout_crc == own.layout_crc &&
              header.layout_bytes == own.layout_bytes && header.data_bytes == own.data_bytes};
}

struct Slots {
  static constexpr std::size_t none = 2;  // in the place of a number

  Slot slots[2];

  // Returns the number of the newest slot that is whole, or own. Sequence numbers may wrap around.
  constexpr std::size_t newest(bool Slot::*is_wanted) const noexcept {
    const auto& [first, second] = slots;
    const std::uint32_t rise = second.header.sequence - first.header.sequence;
    if (second.*is_wanted && (!(first.*is_wanted) || (rise - 1) >> 31 == 0)) return 1;
    return first.*is_wanted ? 0 : none;
  }
};
template <class Flash>
constexpr Slots read_slots(Flash& flash, const SlotHeader& own) noexcept {
  return {{read_slot(flash, 0, own), read_slot(flash, 1, own)}};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
