// SPDX-License-Identifier: MIT
//
// A slot of flash that holds a checkpoint, in blocks: a header, the layout, the data, and the CRC
// of all that, which is written last.
#pragma once

#include "tinyattn/training/detail/checkpoint_layout.hpp"

#include <cstddef>
#include <cstdint>

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

// A call of the caller's flash. lwIP has a macro named read.
constexpr void write_block(auto& flash, std::size_t slot, std::size_t offset,
                           std::span<const std::byte, block_bytes> block) noexcept {
  static_cast<void>(flash.write(slot, offset, block));
}
constexpr void read_block(auto& flash, std::size_t slot, std::size_t offset,
                          std::span<std::byte, block_bytes> block) noexcept {
  static_cast<void>((flash.read)(slot, offset, block));
}

// --- Streams of bytes, in blocks ---

// Words have their low byte first, on every machine.
template <class Flash>
struct SlotWriter {
  Flash& flash;
  std::size_t slot, offset = 0, used = 0;
  std::uint32_t crc = 0;
  std::byte block[block_bytes] = {};

  constexpr void put(std::byte byte) noexcept {
    block[used++] = byte;
    if (used == block_bytes) flush();
  }
  [[gnu::noinline]] constexpr void put(std::uint32_t word) noexcept {
    for (int i = 0; i < 4; ++i) put(static_cast<std::byte>(word >> 8 * i));
  }
  // Not inlined, since a model has many tensors.
  [[gnu::noinline]] constexpr void put(const float* from, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) put(__builtin_bit_cast(std::uint32_t, from[i]));
  }
  [[gnu::noinline]] constexpr void put(const auto* from, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) put(static_cast<std::byte>(from[i]));
  }
  // Fills the last block.
  constexpr void pad() noexcept {
    while (used != 0) put(std::byte{0});
  }

 private:
  [[gnu::noinline]] constexpr void flush() noexcept {
    crc = crc32(crc, block, block_bytes);
    write_block(flash, slot, offset, block);
    offset += block_bytes;
    used = 0;
  }
};

template <class Flash>
struct SlotReader {
  Flash& flash;
  std::size_t slot, offset = 0, used = block_bytes;
  std::byte block[block_bytes] = {};

  constexpr std::byte get() noexcept {
    if (used == block_bytes) {
      read_block(flash, slot, offset, block);
      offset += block_bytes;
      used = 0;
    }
    return block[used++];
  }
  [[gnu::noinline]] constexpr std::uint32_t word() noexcept {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(get()) << 8 * i;
    return word;
  }
  [[gnu::noinline]] constexpr void get(float* to, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) to[i] = __builtin_bit_cast(float, word());
  }
  [[gnu::noinline]] constexpr void get(std::uint8_t* to, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(get());
  }
};

// --- A slot ---

// The header: eight words, of which the last is the CRC of the others.
struct SlotHeader {
  static constexpr std::uint32_t magic = 0x3141'4154;  // "TAA1"

  std::uint32_t sequence, layout_crc, layout_bytes, data_bytes;

  [[gnu::noinline]] constexpr std::uint32_t crc() const noexcept {
    std::uint32_t crc = 0;
    const std::uint32_t words[] = {magic, sequence, layout_crc, layout_bytes, data_bytes};
    for (const std::uint32_t word : words)
      for (int i = 0; i < 4; ++i) {
        const auto byte = static_cast<std::uint8_t>(word >> 8 * i);
        crc = crc32(crc, &byte, 1);
      }
    return crc;
  }
  // Where the last block lies.
  constexpr std::size_t end() const noexcept {
    return block_bytes + in_blocks(layout_bytes) + in_blocks(data_bytes);
  }
  constexpr bool has_layout_of(const SlotHeader& other) const noexcept {
    return layout_crc == other.layout_crc && layout_bytes == other.layout_bytes &&
           data_bytes == other.data_bytes;
  }
};

constexpr void put_header(auto& writer, const SlotHeader& header) noexcept {
  writer.put(SlotHeader::magic);
  writer.put(header.sequence);
  writer.put(header.layout_crc);
  writer.put(header.layout_bytes);
  writer.put(header.data_bytes);
  writer.put(header.crc());
  writer.pad();
}

// The headers of both slots, and which of them are whole.
struct Slots {
  SlotHeader headers[2];
  bool is_whole[2];
};

// Reads a header, and what follows, but nothing from `limit` on, where the last block of the
// caller's model lies: flash may end after it. So a larger model is whole if its header is.
template <class Flash>
[[gnu::noinline]] constexpr bool read_slot(Flash& flash, std::size_t slot, std::size_t limit,
                                           SlotHeader& header) noexcept {
  SlotReader<Flash> reader{flash, slot};
  const std::uint32_t magic = reader.word();
  header = {reader.word(), reader.word(), reader.word(), reader.word()};
  if (magic != SlotHeader::magic || reader.word() != header.crc()) return false;
  if (header.end() > limit) return true;
  std::uint32_t crc = crc32(0, reader.block, block_bytes);
  for (std::size_t offset = block_bytes; offset < header.end(); offset += block_bytes) {
    read_block(flash, slot, offset, reader.block);
    crc = crc32(crc, reader.block, block_bytes);
  }
  return SlotReader<Flash>{flash, slot, header.end()}.word() == crc;
}
template <class Flash>
[[gnu::noinline]] constexpr Slots read_slots(Flash& flash, std::size_t limit) noexcept {
  Slots slots{};
  for (std::size_t slot = 0; slot < 2; ++slot)
    slots.is_whole[slot] = read_slot(flash, slot, limit, slots.headers[slot]);
  return slots;
}

inline constexpr std::size_t no_slot = 2;

// Returns the newest whole slot of those that are wanted. Sequence numbers may wrap around.
constexpr std::size_t newest(const Slots& slots, const auto& is_wanted) noexcept {
  const auto takes_part = [&](std::size_t slot) {
    return slots.is_whole[slot] && is_wanted(slots.headers[slot]);
  };
  const std::uint32_t rise = slots.headers[1].sequence - slots.headers[0].sequence;
  if (takes_part(1) && (!takes_part(0) || (rise - 1) >> 31 == 0)) return 1;
  return takes_part(0) ? 0 : no_slot;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
