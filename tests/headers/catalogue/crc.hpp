// SPDX-License-Identifier: MIT
//
// The checksum of outputs.
#pragma once

#include <cstdint>

namespace tinyattn::test {

inline constexpr int activations_in_crcs = 4;  // which share a CRC with others: a fifth would change that

// CRC-32, as of zip and Ethernet, of the bits of floats, the lowest byte first. Every NaN is 7fc00000.
class Crc {
 public:
  constexpr void add(float x) noexcept {
    std::uint32_t bits = x != x ? 0x7fc00000 : __builtin_bit_cast(std::uint32_t, x);
    for (int i = 0; i < 8; ++i, bits >>= 4) {
      rest_ ^= bits & 15u;
      for (int bit = 0; bit < 4; ++bit) rest_ = rest_ >> 1 ^ (0xedb88320u & (0u - (rest_ & 1u)));
    }
  }
  constexpr std::uint32_t value() const noexcept { return ~rest_; }

 private:
  std::uint32_t rest_ = 0xffffffff;
};

}  // namespace tinyattn::test
