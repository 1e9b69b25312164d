// SPDX-License-Identifier: MIT
//
// The square root of a float, and the inverse square root of a whole number, in integers: correctly
// rounded, constexpr, no libm.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

// Returns the square root of `square` * 2^24, for `square` below 2^26, rounded down. Computes one
// bit in each step, the highest first, as in long division. `rest` is the remainder so far, doubled
// instead of shifting `root`.
constexpr std::uint32_t square_root_of_mantissa(std::uint32_t square) noexcept {
  std::uint32_t root = 0, rest = square;
  for (std::uint32_t bit = 0x01000000u; bit != 0; bit >>= 1) {
    const std::uint32_t step = 2 * root + bit;
    if (step <= rest) {
      rest -= step;
      root += bit;
    }
    rest *= 2;
  }
  return root;
}

// Returns the square root of x: NaN for x below zero, -0 for -0. The root has 25 bits, one more
// than a float. It is never halfway between two floats: the square of a number that ends at its
// 25th bit does not fit into the 24 bits of x.
constexpr float sqrt_in_integers(float x) noexcept {
  constexpr std::uint32_t infinity = 0x7f800000u, nan = 0x7fc00000u, implicit = 0x00800000u;
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  if (bits << 1 == 0 || bits == infinity) return x;
  if (bits > infinity) return __builtin_bit_cast(float, nan);
  std::uint32_t exponent = bits >> 23, mantissa = (bits & (implicit - 1)) | implicit;
  if (exponent == 0) {
    const auto places = static_cast<std::uint32_t>(__builtin_clz(bits)) - 8;
    mantissa = bits << places;
    exponent = 1 - places;  // may wrap around; the sum below does not
  }
  const std::uint32_t root =
      square_root_of_mantissa(exponent % 2 == 0 ? mantissa << 2 : mantissa << 1);
  const std::uint32_t half_exponent =
      (exponent + 125) >> 1;  // one less than the root's: the implicit bit adds 1
  return __builtin_bit_cast(float, (half_exponent << 23) + ((root + 1) >> 1));
}

// Returns 1 / sqrt(n), the scale of scores; 0 for n = 0. Computes one bit of the root in each step,
// until it has 25: root = floor(2^places / sqrt(n)), and 4^places / n exceeds its square by rest +
// remainder / n. No ties: 1 / sqrt(n) is a power of two or not a binary fraction.
constexpr float inverse_sqrt_in_integers(std::size_t n) noexcept {
  if (n == 0) return 0.0f;
  std::uint32_t root = n == 1, rest = 0, places = 0;
  for (std::size_t remainder = n != 1; root < 0x01000000u; ++places) {
    for (int doubling = 0; doubling < 2; ++doubling) {
      const std::size_t missing = n - remainder;
      const bool carries = remainder >= missing;
      remainder = carries ? remainder - missing : 2 * remainder;
      rest = 2 * rest + carries;
    }
    root *= 2;
    if (rest > 2 * root) {
      rest -= 2 * root + 1;
      ++root;
    }
  }
  const std::uint32_t mantissa = (root + 1) / 2;  // its implicit bit adds 1 to the exponent
  return __builtin_bit_cast(float, ((127 + 23 - places) << 23) + mantissa);
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
