// SPDX-License-Identifier: MIT
//
// The square root of a float in integers, by a table, correctly rounded: on a core without the
// instruction, a fourth of the instructions of sqrt_in_integers.hpp, for 96 bytes of flash.
#pragma once

#include "tinyattn/port/square_root.hpp"

#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

// 1 / sqrt(v) = 1 + fraction / 256 in the middle of each interval of v from 1/4 to 1, 1/128 wide;
// rounded down.
struct root_table {
  std::uint8_t fraction[96];
};
inline constexpr root_table inverse_roots = [] {
  root_table roots{};
  for (std::uint32_t i = 0; i < 96; ++i)
    while (roots.fraction[i] != 255 &&
           (257u + roots.fraction[i]) * (257u + roots.fraction[i]) * (2 * i + 65) <= 0x01000000u)
      ++roots.fraction[i];
  return roots;
}();

// As square_root_of_mantissa, for `square` from 2^24 on. Comments give the unit of each integer. A
// step of Newton's method refines an inverse root of seven bits to 13, and another its product with
// x, the root, to 25. That is at most 2 too large or too small; the rest, below 2^31, is exact
// modulo 2^32. (All mantissas were compared.)
[[gnu::noinline]] constexpr std::uint32_t root_from_table(std::uint32_t square) noexcept {
  const std::uint32_t x = square << 6, high = x >> 16;                           // 2^-32, 2^-16
  const std::uint32_t first = 256u + inverse_roots.fraction[(x >> 25) - 32];     // 2^-8
  const std::uint32_t twice_step = 0x60000000u - high * ((first * first) >> 3);  // 2^-29
  const std::uint32_t inverse = (first * (twice_step >> 9)) >> 14;               // 2^-15
  const std::uint32_t half_root = (high * inverse) >> 15;                        // 2^-16
  const auto error = static_cast<std::int32_t>(x - half_root * half_root);       // 2^-32
  const std::int32_t correction = (error >> 6) * static_cast<std::int32_t>(inverse >> 1);  // 2^-41
  std::uint32_t root = (half_root << 9) + static_cast<std::uint32_t>(correction >> 16);    // 2^-25
  auto rest = static_cast<std::int32_t>((square << 24) - root * root);
  for (; rest < 0; rest += static_cast<std::int32_t>(2 * root + 1)) --root;
  for (; rest > static_cast<std::int32_t>(2 * root); ++root)
    rest -= static_cast<std::int32_t>(2 * root + 1);
  return root;
}

// square_root, by the table if there is no instruction for it.
TINYATTN_ALWAYS_INLINE constexpr float quick_square_root(float x) noexcept {
#if defined(TINYATTN_SQUARE_ROOT_IN_INTEGERS)
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  if (bits - 0x00800000u >= 0x7f000000u) return sqrt_in_integers(x);
  const std::uint32_t exponent = bits >> 23, mantissa = (bits & 0x007fffffu) | 0x00800000u;
  const std::uint32_t root = root_from_table(exponent % 2 == 0 ? mantissa << 2 : mantissa << 1);
  return __builtin_bit_cast(float, (((exponent + 125) >> 1) << 23) + ((root + 1) >> 1));
#else
  return square_root(x);
#endif
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
