// SPDX-License-Identifier: MIT
//
// 1 / sqrt(n), correctly rounded, in integers on every target: the scale of scores whose width is known at run time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

// 1 / sqrt(n) = sqrt(4^e / n) / 2^e. Digit after digit, 4^e / n is divided out until its root has 25 bits, one more than a float holds; the
// last is rounded. There is no tie: the root of a fraction 4^e / n that is no power of 4 is no binary fraction.
inline float inverse_sqrt_in_integers(std::size_t n) noexcept {
  if (n == 0) return 0.0f;
  std::uint64_t quotient = n == 1, remainder = n != 1;
  std::uint32_t exponent = 0;
  for (; quotient < std::uint64_t{1} << 48; ++exponent)  // quotient = floor(4^exponent / n)
    for (int digit = 0; digit < 2; ++digit) {
      remainder *= 2;
      quotient = quotient * 2 + (remainder >= n);
      if (remainder >= n) remainder -= n;
    }
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 24; bit != 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= quotient) root |= bit;
  const auto mantissa = static_cast<std::uint32_t>((root + 1) >> 1);  // 2^23 to 2^24
  return std::bit_cast<float>(((127 + 24 - exponent) << 23) + (mantissa - 0x800000u));
}

}  // namespace tinyattn::compiled
