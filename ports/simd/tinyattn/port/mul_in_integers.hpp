// SPDX-License-Identifier: MIT
//
// Rounded products and sums and a comparison for a core without an FPU: in fewer cycles and less
// code than the compiler's run-time library, since all but ordinary numbers go to fma_in_integers.
#pragma once

#include "tinyattn/port/fma_in_integers.hpp"

#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

// a * b, rounded once.
[[gnu::noinline]] constexpr float multiply_in_integers(float a, float b) noexcept {
  const auto x = __builtin_bit_cast(std::uint32_t, a), y = __builtin_bit_cast(std::uint32_t, b);
  const std::uint32_t x_exponent = x << 1 >> 24, y_exponent = y << 1 >> 24;
  const std::uint32_t exponent = x_exponent + y_exponent - 127;
  float product = 0.0f;
  if (x_exponent - 1 < 254 && y_exponent - 1 < 254 && exponent - 1 < 252 &&
      round_ordinary(x ^ y, exponent, multiply_high(mantissa_of_normal(x), mantissa_of_normal(y)),
                     product)) [[likely]]
    return product;
  return fma_in_integers(a, b, -0.0f);
}

// a + b, rounded once.
[[gnu::noinline]] constexpr float add_in_integers(float a, float b) noexcept {
  auto x = __builtin_bit_cast(std::uint32_t, a), y = __builtin_bit_cast(std::uint32_t, b);
  if (x << 1 < y << 1) {
    const std::uint32_t lesser = x;
    x = y;
    y = lesser;
  }
  const std::uint32_t exponent = x << 1 >> 24, places = exponent - (y << 1 >> 24);
  if (exponent - 8 < 246) [[likely]] {
    if (places > 25) return __builtin_bit_cast(float, x);  // also if y is 0
    float sum = 0.0f;
    if (y << 1 >> 24 != 0) {
      const std::uint32_t size = mantissa_of_normal(x) >> 2,
                          other = mantissa_of_normal(y) >> 2 >> places;
      if (round_ordinary(x, exponent, (x ^ y) >> 31 != 0 ? size - other : size + other, sum,
                         places <= 5)) [[likely]]
        return sum;
    }
  }
  return fma_in_integers(a, 1.0f, b);
}

// a < b.
[[gnu::noinline]] constexpr bool is_less_in_integers(float a, float b) noexcept {
  const auto x = __builtin_bit_cast(std::uint32_t, a), y = __builtin_bit_cast(std::uint32_t, b);
  const bool has_nan = x << 1 > infinity_bits << 1 || y << 1 > infinity_bits << 1;
  if (has_nan || (x | y) << 1 == 0) return false;
  if ((x & y) >> 31 != 0) return x > y;
  return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
