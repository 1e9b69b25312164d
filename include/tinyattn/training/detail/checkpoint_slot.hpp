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

// The bytes of a slot in their order, which are read or written a block at a time. transfer takes
// what is written, and returns what the slot then holds. What transfers a tensor is not inlined,
// since a model has many.
template <class Flash, bool reads>
struct SlotStream {
  Flash& flash;
  std::size_t slot, offset = 0, used = reads ? block_bytes : 0;
  std::uint32_t crc = 0;  // of the blocks that were written
  std::byte block[block_bytes] = {};

  // lwIP has a macro named read.
  [[gnu::noinline]] constexpr void next_block() noexcept {
    if constexpr (reads) {
      static_cast<void>((flash.read)(slot, offset, std::span<std::byte, block_bytes>(block)));
    } else {
      crc = crc32(crc, block, block_bytes);
      static_cast<void>(flash.write(slot, offset, std::span<const std::byte, block_bytes>(block)));
    }
    offset += block_bytes;
    used = 0;
  }
  constexpr std::byte transfer(std::byte byte) noexcept {
    if (used == block_bytes) next_block();
    if (!reads) block[used] = byte;
    return block[used++];
  }
  // Words have their low byte first, on every machine.
  [[gnu::noinline]] constexpr std::uint32_t transfer(std::uint32_t word) noexcept {
    for (int i = 0; i < 4; ++i)
      word = word >> 8 | static_cast<std::uint32_t>(transfer(static_cast<std::byte>(word))) << 24;
    return word;
  }
  constexpr std::uint32_t word() noexcept { return transfer(std::uint32_t{0}); }
  template <class Element>
  [[gnu::noinline]] constexpr void transfer(Element* elements, std::size_t count) noexcept {
    using Stored = std::conditional_t<sizeof(Element) == 1, std::byte, std::uint32_t>;
    for (std::size_t i = 0; i < count; ++i) {
      const Stored stored = transfer(__builtin_bit_cast(Stored, elements[i]));
      if constexpr (reads) elements[i] = __builtin_bit_cast(Element, stored);
    }
  }
  // Writes the last block of a part, filled with zeros.
  constexpr void end_part() noexcept {
    while (used != block_bytes) block[used++] = std::byte{0};
    next_block();
  }
};

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

// What the header says of a model: the CRC and the size of its layout, and the size of its data.
struct SlotLayout {
  std::uint32_t crc, bytes, data_bytes;

  // Where the data begin, and where the last block lies, which has the CRC of all before it.
  constexpr std::size_t data() const noexcept { return block_bytes + in_blocks(bytes); }
  constexpr std::size_t end() const noexcept { return data() + in_blocks(data_bytes); }
  friend constexpr bool operator==(const SlotLayout&, const SlotLayout&) = default;
};
template <class Model>
inline constexpr SlotLayout slot_layout{crc_of_layout<Model>, layout_of<Model>.size(),
                                        bytes_of_parameters<Model>()};

// The first word of a slot: "TAA1".
inline constexpr std::uint32_t magic_word = 0x3141'4154;

// Writes a model, and the CRC of all last.
template <class Model, class Flash>
constexpr void write_slot(const Model& model, Flash& flash, std::size_t slot,
                          std::uint32_t sequence) noexcept {
  static_cast<void>(flash.erase(slot));
  SlotStream<Flash, false> writer{flash, slot};
  constexpr SlotLayout layout = slot_layout<Model>;
  for (const std::uint32_t word :
       {magic_word, sequence, layout.crc, layout.bytes, layout.data_bytes})
    writer.transfer(word);
  writer.transfer(crc32(0, writer.block, writer.used));
  writer.end_part();
  writer.transfer(layout_of<Model>.data(), layout_of<Model>.size());
  writer.end_part();
  for_each_parameter(model, [&](const char*, auto& parameter) { transfer(writer, parameter); });
  writer.end_part();
  writer.transfer(std::uint32_t{writer.crc});
  writer.end_part();
}

// What a slot holds: a whole checkpoint, and that with the layout of the caller's model.
struct Slot {
  std::uint32_t sequence;
  bool is_whole, is_own;
};

// Reads a slot, but nothing beyond the last block of the caller's model, whose layout is `own`:
// flash may end there. So a larger model is whole if its header is.
template <class Flash>
[[gnu::noinline]] constexpr Slot read_slot(Flash& flash, std::size_t slot,
                                           const SlotLayout& own) noexcept {
  SlotStream<Flash, true> reader{flash, slot};
  const std::uint32_t magic = reader.word(), sequence = reader.word();
  const SlotLayout layout{reader.word(), reader.word(), reader.word()};
  const std::uint32_t crc_of_header = crc32(0, reader.block, reader.used);
  if (magic != magic_word || reader.word() != crc_of_header) return {};
  if (layout.end() > own.end()) return {sequence, true, false};
  std::uint32_t crc = crc32(0, reader.block, block_bytes);
  while (reader.offset < layout.end()) {
    reader.next_block();
    crc = crc32(crc, reader.block, block_bytes);
  }
  reader.next_block();
  const bool is_whole = reader.word() == crc;
  return {sequence, is_whole, is_whole && layout == own};
}

struct Slots {
  static constexpr std::size_t none = 2;  // in the place of a number

  Slot slots[2];

  // Returns the number of the newest slot that is whole, or own. Sequence numbers may wrap around.
  constexpr std::size_t newest(bool Slot::*is_wanted) const noexcept {
    const auto& [first, second] = slots;
    const std::uint32_t rise = second.sequence - first.sequence;
    if (second.*is_wanted && (!(first.*is_wanted) || (rise - 1) >> 31 == 0)) return 1;
    return first.*is_wanted ? 0 : none;
  }
};
template <class Flash>
constexpr Slots read_slots(Flash& flash, const SlotLayout& own) noexcept {
  return {{read_slot(flash, 0, own), read_slot(flash, 1, own)}};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
