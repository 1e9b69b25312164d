// SPDX-License-Identifier: MIT
//
// fma for a core without an FPU: integers only, rounded once, the bits of a hardware fma for every
// operand (all NaNs are 0x7fc00000). About 70 instructions on a Cortex-M3 and 170 on a Cortex-M0; a
// rounded product and a rounded sum from libgcc take 90 and 195.
//
// A number is x * 2^(unit - 188), x of 64 bits and `unit` an exponent as the bits of a float hold
// it. The product of two mantissas ends at bit 8 of x and begins at bit 54 or 55; the addend begins
// at bit 60 or 61. The lower of the two is shifted right to the unit of the other. What it loses
// there is kept as a last bit of 1: that far apart, only whether something follows matters.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

inline constexpr std::uint32_t sign_bit = 0x80000000u;
inline constexpr std::uint32_t hidden_bit = 0x00800000u;
inline constexpr std::uint32_t infinity_bits = 0x7f800000u;
inline constexpr std::uint32_t nan_bits = 0x7fc00000u;

// 64-bit shifts are calls on a Cortex-M0 and eight instructions on an M3; as two words, with known
// limits, they take five.
[[gnu::always_inline]] constexpr std::uint32_t high_word(std::uint64_t x) noexcept {
  return static_cast<std::uint32_t>(x >> 32);
}
[[gnu::always_inline]] constexpr std::uint32_t low_word(std::uint64_t x) noexcept {
  return static_cast<std::uint32_t>(x);
}
[[gnu::always_inline]] constexpr std::uint64_t words(std::uint32_t high,
                                                     std::uint32_t low) noexcept {
  return (std::uint64_t{high} << 32) | low;
}

// Shifts x right by `places`, 1 to 31. The last bit of the result is 1 if a 1 was lost.
[[gnu::always_inline]] constexpr std::uint64_t shift_right_sticky(std::uint64_t x,
                                                                  std::uint32_t places) noexcept {
  const std::uint32_t lost = low_word(x) << (32 - places);
  const std::uint32_t low = (high_word(x) << (32 - places)) | (low_word(x) >> places);
  return words(high_word(x) >> places, low | (lost != 0 ? 1u : 0u));
}

// Shifts x left by `places`, 1 to 31.
[[gnu::always_inline]] constexpr std::uint64_t shift_left(std::uint64_t x,
                                                          std::uint32_t places) noexcept {
  return words((high_word(x) << places) | (low_word(x) >> (32 - places)), low_word(x) << places);
}

// 256 x y for x and y of 24 bits, from halves of 12 bits.
[[gnu::always_inline]] constexpr std::uint64_t multiply_in_halves(std::uint32_t x,
                                                                  std::uint32_t y) noexcept {
  const std::uint32_t x_high = x >> 12, x_low = x & 0xfffu;
  const std::uint32_t y_high = y >> 12, y_low = y & 0xfffu;
  const std::uint32_t middle = x_high * y_low + x_low * y_high;
  return words(x_high * y_high + (middle >> 12), middle << 20) + ((x_low * y_low) << 8);
}

// 256 x y for x and y of 24 bits. ARMv6-M (Cortex-M0) has no product of 64 bits; its 64-bit
// multiplication is a call.
[[gnu::always_inline]] constexpr std::uint64_t multiply_mantissas(std::uint32_t x,
                                                                  std::uint32_t y) noexcept {
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  return multiply_in_halves(x, y);
#else
  return std::uint64_t{x} * (y << 8);
#endif
}

// Rounds the 24 high bits of x to nearest, ties to even, and adds them to the bits of sign and
// exponent: a carry out of the mantissa increments the exponent, up to infinity.
[[gnu::always_inline]] constexpr float add_rounded_mantissa(std::uint32_t bits,
                                                            std::uint64_t x) noexcept {
  const std::uint32_t high = high_word(x);
  std::uint32_t mantissa = (high >> 8) + ((high >> 7) & 1u);
  if ((high & 0xffu) == 0x80u && low_word(x) == 0) mantissa &= ~1u;
  return __builtin_bit_cast(float, bits + mantissa);
}

// Rounds a result that is too large, or subnormal, or too small. The highest bit of x is bit 63.
[[gnu::noinline]] constexpr float round_outside_normal(std::uint32_t sign, std::int32_t exponent,
                                                       std::uint64_t x) noexcept {
  if (exponent > 0) return __builtin_bit_cast(float, sign | infinity_bits);
  const auto places = static_cast<std::uint32_t>(1 - exponent);
  if (places > 31) return __builtin_bit_cast(float, sign);
  return add_rounded_mantissa(sign, shift_right_sticky(x, places));
}

// Returns x * 2^(unit - 188) with the top bit of `sign`, for x below 2^63.
[[gnu::always_inline]] constexpr float normalize_and_round(std::uint32_t sign, std::int32_t unit,
                                                           std::uint64_t x) noexcept {
  if (high_word(x) == 0) [[unlikely]] {
    if (x == 1)
      // Only if the addend is 0 and the product is below every float.
      return __builtin_bit_cast(float, (sign & sign_bit));
    if (x == 0) return 0.0f;
    x <<= 31;
    unit -= 31;
  }
  const auto leading_zeros = static_cast<std::uint32_t>(__builtin_clz(high_word(x)));
  x = shift_left(x, leading_zeros);
  sign &= sign_bit;
  const std::int32_t exponent = unit + 2 - static_cast<std::int32_t>(leading_zeros);
  const auto below =
      static_cast<std::uint32_t>(exponent - 1);  // the mantissa's implicit bit adds the 1
  if (below >= 254u) [[unlikely]]
    return round_outside_normal(sign, exponent, x);
  return add_rounded_mantissa(sign + (below << 23), x);
}

// Returns high * 2^32 shifted right by 32 places or more. The last bit is 1 if a 1 was lost.
[[gnu::always_inline]] constexpr std::uint64_t shift_right_far(std::uint32_t high,
                                                               std::uint32_t places) noexcept {
  if (places > 63) return high != 0 ? 1u : 0u;
  const std::uint32_t lost = (high << 1) << (63 - places);
  return (high >> (places - 32)) | (lost != 0 ? 1u : 0u);
}

struct unpacked {
  std::uint32_t exponent;
  std::uint32_t mantissa;
};

[[gnu::always_inline]] constexpr unpacked unpack_normal(std::uint32_t bits) noexcept {
  return {bits << 1 >> 24, (bits & (hidden_bit - 1)) | hidden_bit};
}

// Returns the product, in units of `unit`, plus the addend. Only the top bits of `sign` and
// `addend_sign` count.
[[gnu::always_inline]] constexpr float add_to_product(std::uint32_t sign, std::int32_t unit,
                                                      std::uint64_t product,
                                                      std::uint32_t addend_sign,
                                                      unpacked addend) noexcept {
  const auto addend_unit = static_cast<std::int32_t>(addend.exponent);
  const std::int32_t distance = unit - addend_unit;
  std::uint64_t other = words(addend.mantissa << 5, 0);
  if (distance > 0) {
    const std::uint32_t high = addend.mantissa << 6;
    const auto places = static_cast<std::uint32_t>(distance);
    other = distance < 32 ? words(high >> places, high << (32 - places))
                          : shift_right_far(high, places);
  } else {
    product =
        distance > -31 ? shift_right_sticky(product, static_cast<std::uint32_t>(1 - distance)) : 1u;
    unit = addend_unit + 1;
  }
  std::uint64_t sum = product + other;
  if (static_cast<std::int32_t>(sign ^ addend_sign) < 0) {
    sum = product - other;
    if (static_cast<std::int64_t>(sum) < 0) {
      sum = -sum;
      sign = ~sign;
    }
  }
  return normalize_and_round(sign, unit, sum);
}

// Computes an fma with infinity or NaN among its operands, or with a product of zero.
[[gnu::noinline]] constexpr float fma_without_product(std::uint32_t a, std::uint32_t b,
                                                      std::uint32_t c) noexcept {
  const std::uint32_t sign = (a ^ b) & sign_bit;
  const std::uint32_t a_size = a & ~sign_bit, b_size = b & ~sign_bit, c_size = c & ~sign_bit;
  const std::uint32_t larger = a_size < b_size ? b_size : a_size;
  const std::uint32_t smaller = a_size < b_size ? a_size : b_size;
  if (larger > infinity_bits || c_size > infinity_bits) return __builtin_bit_cast(float, nan_bits);
  if (larger == infinity_bits) {
    const std::uint32_t infinite = sign | infinity_bits;
    const bool opposite = (c ^ infinite) == sign_bit;
    return __builtin_bit_cast(float, smaller == 0 || opposite ? nan_bits : infinite);
  }
  if (c_size == 0) return __builtin_bit_cast(float, (sign & c));  // -0 only if both terms are -0
  return __builtin_bit_cast(float, c);
}

// Whether x is neither zero nor subnormal, infinite or NaN.
[[gnu::always_inline]] constexpr bool is_normal(unpacked x) noexcept {
  return x.exponent - 1 < 254;
}

// Removes the implicit bit of a subnormal or a zero, and sets the exponent of the smallest normal.
[[gnu::always_inline]] constexpr void correct_subnormal(unpacked& x) noexcept {
  if (x.exponent == 0) x = {1, x.mantissa - hidden_bit};
}

// a * b + c, rounded once.
[[gnu::noinline]] constexpr float fma_in_integers(float a, float b, float c) noexcept {
  const auto a_bits = __builtin_bit_cast(std::uint32_t, a);
  const auto b_bits = __builtin_bit_cast(std::uint32_t, b);
  const auto c_bits = __builtin_bit_cast(std::uint32_t, c);
  unpacked x = unpack_normal(a_bits), y = unpack_normal(b_bits), z = unpack_normal(c_bits);
  if (!is_normal(x) || !is_normal(y) || !is_normal(z)) [[unlikely]] {
    const bool not_finite = x.exponent == 255 || y.exponent == 255 || z.exponent == 255;
    if (not_finite || (a_bits << 1) == 0 || (b_bits << 1) == 0)
      return fma_without_product(a_bits, b_bits, c_bits);
    correct_subnormal(x);
    correct_subnormal(y);
    correct_subnormal(z);
  }
  const std::int32_t unit = static_cast<std::int32_t>(x.exponent + y.exponent) - 120;
  return add_to_product(a_bits ^ b_bits, unit, multiply_mantissas(x.mantissa, y.mantissa), c_bits,
                        z);
}

// The high word of x y, for factors below 2^31, or of 2^31 if the other is one below it.
[[gnu::always_inline]] constexpr std::uint32_t multiply_high_in_halves(std::uint32_t x,
                                                                       std::uint32_t y) noexcept {
  const std::uint32_t x_high = x >> 16, x_low = x & 0xffffu;
  const std::uint32_t y_high = y >> 16, y_low = y & 0xffffu;
  const std::uint32_t middle = x_high * y_low + x_low * y_high + ((x_low * y_low) >> 16);
  return x_high * y_high + (middle >> 16);
}
[[gnu::always_inline]] constexpr std::uint32_t multiply_high(std::uint32_t x,
                                                             std::uint32_t y) noexcept {
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  return multiply_high_in_halves(x, y);
#else
  return high_word(std::uint64_t{x} * y);
#endif
}

// The mantissa of a normal number: its highest bit is bit 30. The high word of the product of two
// begins at bit 28 or 29.
[[gnu::always_inline]] constexpr std::uint32_t mantissa_of_normal(std::uint32_t bits) noexcept {
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  return ((bits & (hidden_bit - 1)) | hidden_bit) << 7;
#else
  return (bits << 9 >> 2) | hidden_bit << 7;
#endif
}

// A factor of a row of sums, and which exponents of an addend are ordinary: with these, a sum is a
// normal number, and a second factor that is none is too far away.
struct row_factor {
  std::uint32_t bits, exponent, mantissa;
  std::uint32_t least = 256, span = 0;  // of an addend's exponent: the least, the most minus it

  [[gnu::always_inline]] explicit constexpr row_factor(std::uint32_t a) noexcept
      : bits(a), exponent(a << 1 >> 24), mantissa(mantissa_of_normal(a)) {
    if (exponent - 1 >= 254) return;
    least = exponent < 103 ? 8 : exponent - 95;
    span = (exponent > 124 ? 220 : exponent + 96) - least;
  }
};

// Rounds a sum whose exponent is `exponent` if its highest bit is bit 28. Unless it is exact, it is
// up to one off what it stands for. Returns false if it then may have too few bits, or be a tie.
[[gnu::always_inline]] constexpr bool round_ordinary(std::uint32_t sign, std::uint32_t exponent,
                                                     std::uint32_t sum, float& to,
                                                     bool is_exact = false) noexcept {
  if (sum < 0x02000000u || sum >> 31 != 0) [[unlikely]]
    return false;
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  exponent += 1;
  for (; (sum >> 30) == 0; sum <<= 1) --exponent;
#else
  const auto places = static_cast<std::uint32_t>(std::countl_zero(sum)) - 1;
  sum <<= places;
  exponent += 1 - places;
#endif
  sum += 0x40u;
  if (sum << 25 == 0) [[unlikely]] {
    if (!is_exact) return false;
    sum &= ~0x80u;
  }
  to = __builtin_bit_cast(float, (sign & sign_bit) | ((exponent << 23) + (sum >> 7)));
  return true;
}

// to += a * b, if the addend is ordinary, and the product less than 2^32 times below it and 2^6
// above it; else returns false. What is shifted out decides only ties, which are not ordinary.
[[gnu::always_inline]] constexpr bool add_ordinary(const row_factor& a, std::uint32_t b,
                                                   float& to) noexcept {
  const auto c = __builtin_bit_cast(std::uint32_t, to);
  std::uint32_t exponent = c << 1 >> 24;
  if (exponent - a.least > a.span) [[unlikely]]
    return false;
  const std::uint32_t places = exponent + 127 - a.exponent - (b << 1 >> 24);
  const std::uint32_t high = multiply_high(a.mantissa, mantissa_of_normal(b));
  const std::uint32_t rest = c << 9 >> 4;
  const bool differ = static_cast<std::int32_t>(a.bits ^ b ^ c) < 0;
  std::uint32_t sign = c, sum = 0;
  if (places - 1 < 31) [[likely]] {
    const std::uint32_t shifted = high >> places;
    sum = differ ? rest - shifted : rest + shifted;
    if (sum >> 28 == 0) [[likely]] {
      const std::uint32_t mantissa = (sum << 2) + 0x40u;
      if (mantissa << 25 == 0) [[unlikely]]
        return false;
      to = __builtin_bit_cast(float, (c >> 23 << 23) + (mantissa >> 7));
      return true;
    }
    sum += 0x10000000u;
  } else {
    const std::uint32_t distance = 0 - places;
    if (distance > 5) return false;
    const std::uint32_t other = (rest + 0x10000000u) >> distance;
    sum = differ ? high - other : high + other;
    sign ^= a.bits ^ b ^ c;
    exponent += distance;
  }
  return round_ordinary(sign, exponent, sum, to);
}

// to[j] = a * from[j * next] + to[j] for `count` elements, each rounded once. Unpacks `a` once and
// needs no call for ordinary numbers: about 50 instructions per element on a Cortex-M3.
[[gnu::noinline]] inline void add_multiple_in_integers(float a, const float* from, std::size_t next,
                                                       float* to, std::size_t count) noexcept {
  const row_factor factor(__builtin_bit_cast(std::uint32_t, a));
  for (float* const end = to + count; to != end; ++to, from += next)
    if (!add_ordinary(factor, __builtin_bit_cast(std::uint32_t, *from), *to)) [[unlikely]] {
      asm("" : "+r"(to), "+r"(from));  // so that both floats are read again: registers are scarce
      *to = fma_in_integers(a, *from, *to);
    }
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
