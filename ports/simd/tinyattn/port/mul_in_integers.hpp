// SPDX-License-Identifier: MIT
//
// Rounded products and sums and a comparison for a core without an FPU: in fewer cycles and less
// code than the compiler's run-time library, since all but ordinary numbers go to fma_in_integers.
#pragma once

#include "tinyattn/port/fma_in_integers.hpp"

#include <cstddef>
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
      const std::uint32_t size = (x << 9 >> 4) | 0x10000000u,
                          other = ((y << 9 >> 4) | 0x10000000u) >> places;
      if (round_ordinary(x, exponent, (x ^ y) >> 31 != 0 ? size - other : size + other, sum,
                         places <= 5)) [[likely]]
        return sum;
    }
  }
  return fma_in_integers(__builtin_bit_cast(float, x), 1.0f, __builtin_bit_cast(float, y));
}

// x * x + sum, rounded once.
[[gnu::noinline]] constexpr float add_square_in_integers(float x, float sum) noexcept {
  const auto b = __builtin_bit_cast(std::uint32_t, x), c = __builtin_bit_cast(std::uint32_t, sum);
  const std::uint32_t exponent = (b << 1 >> 24) * 2 - 127, of_sum = c >> 23;
  const std::uint32_t places = of_sum - exponent;
  if (exponent - 8 < 214 && (places + 5 < 37 || c == 0)) [[likely]] {
    const std::uint32_t square = multiply_high(mantissa_of_normal(b), mantissa_of_normal(b));
    const std::uint32_t size = mantissa_of_normal(c) >> 2;
    const bool is_below = static_cast<std::int32_t>(places) > 0;
    const std::uint32_t both = c == 0     ? square
                               : is_below ? size + (square >> places)
                                          : (size >> (0 - places)) + square;
    float to = 0.0f;
    if (round_ordinary(0, is_below ? of_sum : exponent, both, to)) [[likely]]
      return to;
  }
  return fma_in_integers(x, x, sum);
}

// The product of two mantissas of normal numbers, as such a mantissa before its last seven bits are
// cut off: these are 0 if it may be a tie. Adds one to the exponent of a product from 2 on.
[[gnu::always_inline]] constexpr std::uint32_t multiply_unpacked(std::uint32_t x, std::uint32_t y,
                                                                 std::uint32_t& exponent) noexcept {
  std::uint32_t high = multiply_high(x, y);
  if (high >> 29 == 0)
    high <<= 1;
  else
    ++exponent;
  return (high << 1) + 0x40u;
}

// out[j] = x[j] * factor * by[j], in which both products are rounded.
[[gnu::noinline]] inline void multiply_twice_in_integers(const float* x, float factor,
                                                         const float* by, float* out,
                                                         std::size_t count) noexcept {
  const auto a = __builtin_bit_cast(std::uint32_t, factor);
  const std::uint32_t a_exponent = a << 1 >> 24;
  // the exponent of x with which that of the first product is 64; up to 125 more are ordinary
  const std::uint32_t least = a_exponent - 64 < 127 ? 191 - a_exponent : 256;
  for (const float* const end = x + count; x != end; ++x, ++by, ++out) {
    const auto b = __builtin_bit_cast(std::uint32_t, *x);
    const auto c = __builtin_bit_cast(std::uint32_t, *by);
    const std::uint32_t c_exponent = (c << 1 >> 24) - 64;
    std::uint32_t exponent = (b << 1 >> 24) - least;
    if (exponent <= 125 && c_exponent <= 125) [[likely]] {
      const std::uint32_t first =
          multiply_unpacked(mantissa_of_normal(a), mantissa_of_normal(b), exponent);
      exponent += c_exponent;
      const std::uint32_t second =
          multiply_unpacked(first & ~0x7fu, mantissa_of_normal(c), exponent);
      if (first << 25 != 0 && second << 25 != 0) [[likely]] {
        const std::uint32_t sign = (a ^ b ^ c) & sign_bit;
        *out = __builtin_bit_cast(float, sign | ((exponent << 23) + (second >> 7)));
        continue;
      }
    }
    *out = fma_in_integers(fma_in_integers(*x, factor, -0.0f), *by, -0.0f);
  }
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
