// SPDX-License-Identifier: MIT
//
// The CRC-32 (of zip and Ethernet) of the bits of floats, lowest byte first. Runs that print the same checksum computed the same bits, also
// in digits that are not printed. Every NaN counts as 0x7fc00000: its sign and payload are not part of the answer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace support {

class Checksum {
 public:
  constexpr void add(std::uint8_t byte) {
    state_ ^= byte;
    for (int bit = 0; bit < 8; ++bit) state_ = (state_ >> 1) ^ ((state_ & 1) != 0 ? 0xedb88320u : 0u);
  }
  constexpr void add(float x) {
    const std::uint32_t bits = x != x ? 0x7fc00000u : __builtin_bit_cast(std::uint32_t, x);
    for (int shift = 0; shift < 32; shift += 8) add(static_cast<std::uint8_t>(bits >> shift & 0xff));
  }
  constexpr void add(const float* elements, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(elements[i]);
  }
  constexpr std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xffffffff;
};

// The check value in every catalogue of CRCs.
static_assert([] {
  Checksum checksum;
  for (char digit = '1'; digit <= '9'; ++digit) checksum.add(static_cast<std::uint8_t>(digit));
  return checksum.value();
}() == 0xcbf43926);

}  // namespace support
