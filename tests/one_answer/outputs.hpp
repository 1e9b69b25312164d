// SPDX-License-Identifier: MIT
//
// What a workload computed, as bits. Two runs with the same CRC-32 (that of zip and Ethernet, lowest byte first) computed the same
// bits. Every NaN counts as 0x7fc00000: its sign and payload are not part of the answer.
#pragma once

#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tinyattn::one_answer {

constexpr std::uint32_t bits_of(float x) noexcept { return x != x ? 0x7fc00000u : std::bit_cast<std::uint32_t>(x); }

class Crc32 {
 public:
  constexpr void add(std::uint8_t byte) noexcept {
    state_ ^= byte;
    for (int half = 0; half < 2; ++half) state_ = (state_ >> 4) ^ of_half_byte[state_ & 15];
  }
  constexpr void add(std::uint32_t word) noexcept {
    for (int shift = 0; shift < 32; shift += 8) add(static_cast<std::uint8_t>(word >> shift & 0xff));
  }
  constexpr std::uint32_t value() const noexcept { return ~state_; }

 private:
  static constexpr std::uint32_t of_half_byte[16] = {
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
      0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
  };

  std::uint32_t state_ = 0xffffffff;
};

// The check value that every catalogue of CRCs gives.
static_assert([] {
  Crc32 crc;
  for (char digit = '1'; digit <= '9'; ++digit) crc.add(static_cast<std::uint8_t>(digit));
  return crc.value();
}() == 0xcbf43926);

// A tensor of the outputs: what it is, and its shape.
struct Heading {
  const char* name;
  std::size_t rank;
  std::size_t extents[4];
};

template <std::size_t... Extents>
constexpr Heading heading(const char* name, const Tensor<float, Extents...>&) noexcept {
  static_assert(sizeof...(Extents) <= 4);
  return {name, sizeof...(Extents), {Extents...}};
}

// Outputs that are kept: those of the compiler, which cannot print.
template <std::size_t Words, std::size_t Headings>
struct Record {
  std::uint32_t words[Words] = {};
  Heading headings[Headings] = {};
  std::size_t word_count = 0;
  std::size_t heading_count = 0;
  Crc32 crc;

  template <std::size_t... Extents>
  constexpr void take(const char* name, const Tensor<float, Extents...>& tensor) noexcept {
    headings[heading_count++] = heading(name, tensor);
    for (float element : tensor.elements) {
      words[word_count++] = bits_of(element);
      crc.add(bits_of(element));
    }
  }
};

}  // namespace tinyattn::one_answer
