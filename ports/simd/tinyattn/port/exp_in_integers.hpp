// SPDX-License-Identifier: MIT
//
// e^x for a core without an FPU: each step of elementwise.hpp's is rounded as its fma, but no
// number is packed and unpacked between them.
//
// A step is power = coefficient + power * r. Bits of the product below a 2^7th of the sum's last
// bit are cut off. A negative product is added as ~x, not -x: one too low, if nothing was cut off.
// Only the last step can notice, as the test of every float shows; it corrects that.
#pragma once

#include "tinyattn/port/fma_in_integers.hpp"

#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

// The mantissas of exp_coefficients, for a positive and for a negative r: then sums with 1/2 and 1
// are below it, and have one bit more after the point.
inline constexpr std::uint32_t exp_mantissas[2][6] = {
    {0x892600u << 7, 0xaaab2au << 7, 0xaaaa39u << 7, 0x40000000u, 0x40000000u, 0x40000000u},
    {0x892600u << 7, 0xaaab2au << 7, 0xaaaa39u << 7, 0x80000000u, 0x80000000u, 0x80000000u}};

// e^x for -87 <= x <= 0, and 0 for x = -88; a NaN stays one.
[[gnu::noinline]] inline float exp_of_nonpositive_in_integers(float x) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t exponent = bits << 1 >> 24;
  if (bits << 1 >= 0x85600000u) return bits << 1 > infinity_bits << 1 ? x : 0.0f;
  if (exponent < 94) return 1.0f;  // above -2^-33
  // r = x + n ln 2 is 2^(-32 - places) * mantissa, of which the highest bit is bit 30; `negative`
  // is 0, or ~0 if r is below 0.
  std::uint32_t mantissa = mantissa_of_normal(bits);
  std::uint32_t n = 0, places = 125 - exponent, negative = ~0u;
  if (exponent >= 125) n = ((multiply_high(mantissa, 0xb8aa3bu << 7) >> (154 - exponent)) + 1) >> 1;
  if (n != 0) {  // the first part of n ln 2, less |x|, then the second part: in 64 bits
    std::uint32_t high = (n * 0x162e43u << 11) - (mantissa << (exponent - 125));
    std::uint32_t low = n * 0x105c61u;
    high -= (low >> 17) + 1u;  // low << 15 is not 0
    low = 0u - (low << 15);
    negative = 0u - (high >> 31);
    high ^= negative;
    low ^= negative;
    for (places = 0; high >> 30 == 0; ++places) {
      high = (high << 1) | (low >> 31);
      low <<= 1;
    }
    mantissa = (high + 0x40u) & ~0x7fu;
  }
  asm("" : "+r"(mantissa), "+r"(negative));  // else there are two copies of what follows
  const std::uint32_t* coefficient = exp_mantissas[negative & 1u];
  std::uint32_t power = 0xb5dedfu << 7;
  for (std::uint32_t shifts = 0x12223u + (negative << 12); shifts != 0; shifts >>= 4) {
    const std::uint32_t product = multiply_high(power, mantissa) >> places >> (shifts & 15u);
    power = (*coefficient++ + 0x40u + (product ^ negative)) & ~0x7fu;
  }
  const std::uint32_t high = multiply_high(power, mantissa), product = high >> places;
  std::uint32_t sum = *coefficient + (product ^ negative);
  if (power * mantissa == 0 && product << places == high) [[unlikely]] {
    sum -= negative;  // the product is exact, and the sum may be a tie
    sum += ((sum >> 7) & 1u) - 1u;
  }
  power = sum + 0x40u;
  return __builtin_bit_cast(float, ((126u + negative - n) << 23) + (power >> 7));
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
