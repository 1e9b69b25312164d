// SPDX-License-Identifier: MIT
//
// Random floats for tests of arithmetic: of every exponent, or close enough to each other to cancel.
#pragma once

#include <cstdint>

namespace tinyattn::test {

constexpr std::uint32_t next(std::uint32_t& state) noexcept { return state = state * 1664525u + 1013904223u; }

constexpr bool is_finite(float x) noexcept { return x - x == 0.0f; }

// A float of any exponent and sign, with a full or short mantissa; also NaN and infinity.
inline float any_float(std::uint32_t& state) noexcept {
  const std::uint32_t bits = next(state) ^ next(state) >> 16;
  return __builtin_bit_cast(float, (next(state) >> 30 & 1u) != 0 ? bits : bits & 0xffff0000u);
}

inline float any_finite(std::uint32_t& state) noexcept {
  for (;;) {
    const float x = any_float(state);
    if (is_finite(x)) return x;
  }
}

// A float with an exponent near 1's, so that products and addends overlap.
inline float near_one(std::uint32_t& state) noexcept {
  const std::uint32_t bits = next(state) ^ next(state) >> 16;
  return __builtin_bit_cast(float, (bits & 0x83ffffffu) | 0x3c000000u);
}

}  // namespace tinyattn::test
