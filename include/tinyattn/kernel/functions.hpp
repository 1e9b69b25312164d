// SPDX-License-Identifier: MIT
//
// Functions of a float that take many steps, on a port of one lane: powers, sines, remainders.
#pragma once

#include "tinyattn/kernel/size.hpp"
#include "tinyattn/port/logarithm.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// A number as the sum of two floats, the second below half a unit in the last place of the first.
struct TwoFloats {
  float high, low;
};

// log(1 + f) = 2 atanh(s), s = f / (2 + f): the terms of atanh from s^3 on, the highest first.
inline constexpr float atanh_coefficients[] = {0x1.745d18p-4f, 0x1.c71c72p-4f, 0x1.24924ap-3f,
                                               0x1.99999ap-3f, 0x1.555556p-2f};

// The natural logarithm of x, which is positive and finite, with an error of about 2^-32 of it.
template <class Port>
constexpr TwoFloats log_in_two_floats(float x) noexcept {
  constexpr std::uint32_t infinite = 0x7f800000, root_of_half = 0x3f3504f3, of_integer = 0x4b400000;
  auto bits = __builtin_bit_cast(std::uint32_t, x);
  std::uint32_t shift = 0;
  if (bits < 0x00800000) {  // a subnormal
    bits = __builtin_bit_cast(std::uint32_t, Port::mul(x, 0x1p23f));
    shift = 23;
  }
  const std::uint32_t exponent = (bits - root_of_half + infinite) >> 23;  // n + 255
  const float n =
      Port::add(__builtin_bit_cast(float, of_integer + exponent - 255 - shift), -0x1.8p23f);
  const float m = __builtin_bit_cast(float, bits - (exponent << 23) + infinite);
  const float f = Port::add(m, -1.0f), sum = Port::add(m, 1.0f);
  const float sum_low = Port::add(m, -Port::add(sum, -1.0f));
  const float s = Port::divide(f, sum), rest = Port::fma(-s, sum, f);
  const float s_low = Port::divide(Port::fma(-s, sum_low, rest), sum), square = Port::mul(s, s);
  const float cube = Port::mul(Port::mul(s, square), polynomial<Port>(square, atanh_coefficients));
  const float big = Port::mul(n, 0x1.62e4p-1f), twice = Port::add(s, s);  // both exact
  const float high = Port::add(big, twice), part = Port::add(high, -big);
  const float lost = Port::add(Port::add(big, -Port::add(high, -part)), Port::add(twice, -part));
  const float low = Port::fma(2.0f, Port::add(s_low, cube), Port::fma(n, 0x1.7f7d1cp-20f, lost));
  const float result = Port::add(high, low);
  return {result, Port::add(low, Port::add(high, -result))};
}

// log(x) * factor, in which factor is the sum of two floats.
template <class Port>
constexpr float scaled_log(float x, TwoFloats factor) noexcept {
  if (!(0.0f < x && x < infinity)) return port::elementwise::log<Port>(x);
  const TwoFloats log = log_in_two_floats<Port>(x);
  const float product = Port::mul(log.high, factor.high);
  const float rest = Port::fma(log.high, factor.high, -product);
  return Port::add(product, Port::fma(log.low, factor.high, Port::fma(log.high, factor.low, rest)));
}

// log(1 + x): what is lost where x is added to 1 is made up for by a factor.
template <class Port>
constexpr float log1p(float x) noexcept {
  const float sum = Port::add(1.0f, x), added = Port::add(sum, -1.0f);
  if (added == 0.0f || !(x < infinity)) return x;
  return Port::mul(port::elementwise::log<Port>(sum), Port::divide(x, added));
}

// x^n by products, n from 0 on.
template <class Port>
constexpr float whole_power(float x, unsigned n) noexcept {
  float power = (n & 1) != 0 ? x : 1.0f;
  while ((n >>= 1) != 0) {
    x = Port::mul(x, x);
    if ((n & 1) != 0) power = Port::mul(power, x);
  }
  return power;
}

// x^y for a positive x: e^(y log x), in which the product has two floats, too.
template <class Port>
constexpr float positive_power(float x, float y) noexcept {
  if (x == infinity) return y < 0.0f ? 0.0f : infinity;
  const TwoFloats log = log_in_two_floats<Port>(x);
  const float product = Port::mul(y, log.high);
  const float value = port::elementwise::exp<Port>(product);
  if (!(0.0f < value && value < infinity)) return value;
  const float rest = Port::fma(y, log.low, Port::fma(y, log.high, -product));
  return Port::fma(value, rest, value);
}

// x^y as C's pow. Whole exponents up to 8 are products.
template <class Port>
[[gnu::noinline]] constexpr float power(float x, float y) noexcept {
  const float size = y < 0.0f ? -y : y;
  const bool is_small = size < 0x1p24f;
  const auto whole = static_cast<unsigned>(static_cast<int>(is_small ? size : 0.0f));
  const bool is_whole = is_small ? static_cast<float>(static_cast<int>(whole)) == size : y == y;
  if (x == 1.0f || (is_whole && is_small && whole == 0)) return 1.0f;
  if (x != x || y != y) return Port::add(x, y);
  if (is_whole && is_small && whole <= 8) {
    const float value = whole_power<Port>(x, whole);
    return y < 0.0f ? Port::divide(1.0f, value) : value;
  }
  const bool is_odd = is_whole && (whole & 1) != 0;
  if (x == 0.0f) {
    const float value = y < 0.0f ? infinity : 0.0f;
    return is_odd && __builtin_bit_cast(std::uint32_t, x) != 0 ? -value : value;
  }
  if (x == -1.0f && is_whole) return is_odd ? -1.0f : 1.0f;
  if (x < 0.0f && x > -infinity && !is_whole) return __builtin_nanf("");
  const float value = positive_power<Port>(x < 0.0f ? -x : x, y);
  return x < 0.0f && is_odd ? -value : value;
}

// The bits of 2 / pi behind the point, after 32 zeros.
inline constexpr std::uint32_t bits_of_two_over_pi[] = {
    0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// An angle less a whole number of quarters of a turn: from -pi / 4 to pi / 4.
struct Quarters {
  std::uint32_t count;  // modulo 4
  float rest;
};

// Divides x, which is finite, by pi / 2 in integers: of x * 2 / pi, modulo 4, the first 64 bits.
template <class Port>
constexpr Quarters quarters_of(float x) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t exponent = bits >> 23 & 0xff, first = exponent - 120;
  if (exponent < 126) return {0, x};
  std::uint32_t words[3] = {};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t* const from = bits_of_two_over_pi + first / 32 + i;
    words[i] = first % 32 == 0 ? from[0] : from[0] << first % 32 | from[1] >> (32 - first % 32);
  }
  const std::uint64_t mantissa = (bits & 0x007fffff) | 0x00800000;
  const std::uint64_t low = mantissa * words[2], middle = mantissa * words[1] + (low >> 32);
  const std::uint64_t turns = ((mantissa * words[0]) << 32) + middle;
  const std::uint64_t nearest = turns + (std::uint64_t{1} << 61);
  std::uint64_t rest = turns - (nearest >> 62 << 62);
  const bool is_below = rest >> 63 != 0;
  if (is_below) rest = 0 - rest;
  std::uint32_t scale = std::uint32_t{127 + 32 - 62} << 23;
  for (; rest >> 62 == 0 && rest != 0; rest <<= 1) scale -= 1u << 23;
  const auto number = static_cast<float>(static_cast<std::int32_t>(rest >> 32));
  const float part = Port::mul(Port::mul(number, __builtin_bit_cast(float, scale)), 0x1.921fb6p+0f);
  const bool is_negative = bits >> 31 != 0;
  const auto count = static_cast<std::uint32_t>(nearest >> 62);
  return {is_negative ? 0 - count : count, is_below != is_negative ? -part : part};
}

// The coefficients of sinf and cosf of Moshier's Cephes library.
inline constexpr float sin_coefficients[] = {-1.9515295891e-4f, 8.3321608736e-3f,
                                             -1.6666654611e-1f};
inline constexpr float cos_coefficients[] = {2.443315711809948e-5f, -1.388731625493765e-3f,
                                             4.166664568298827e-2f};

// sin(x + quarters * pi / 2).
template <class Port>
[[gnu::noinline]] constexpr float sine(float x, std::uint32_t quarters) noexcept {
  if (!(-infinity < x && x < infinity)) return __builtin_nanf("");
  const Quarters angle = quarters_of<Port>(x);
  const float r = angle.rest, square = Port::mul(r, r);
  quarters += angle.count;
  float value = 0.0f;
  if ((quarters & 1) != 0)
    value = Port::fma(Port::mul(square, square), polynomial<Port>(square, cos_coefficients),
                      Port::fma(square, -0.5f, 1.0f));
  else
    value = Port::fma(Port::mul(r, square), polynomial<Port>(square, sin_coefficients), r);
  return (quarters & 2) != 0 ? -value : value;
}

// The remainder of a / b with the sign of a, as C's fmod: exact.
constexpr float remainder_of_a(float a, float b) noexcept {
  constexpr std::uint32_t implicit = 0x00800000, infinite = 0x7f800000, sign = 0x80000000;
  const auto bits = __builtin_bit_cast(std::uint32_t, a);
  std::uint32_t rest = bits & ~sign, divisor = __builtin_bit_cast(std::uint32_t, b) & ~sign;
  if (rest >= infinite || divisor > infinite || divisor == 0) return __builtin_nanf("");
  if (rest < divisor) return a;
  std::uint32_t exponent = rest >> 23, last = divisor >> 23;
  rest = exponent == 0 ? rest : (rest & (implicit - 1)) | implicit;
  divisor = last == 0 ? divisor : (divisor & (implicit - 1)) | implicit;
  if (exponent == 0) exponent = 1;
  if (last == 0) last = 1;
  for (; exponent != last; --exponent) rest = (rest < divisor ? rest : rest - divisor) << 1;
  if (rest >= divisor) rest -= divisor;
  if (rest == 0) return __builtin_bit_cast(float, bits& sign);
  for (; rest < implicit && exponent > 1; --exponent) rest <<= 1;
  const std::uint32_t size = rest < implicit ? rest : rest - implicit + (exponent << 23);
  return __builtin_bit_cast(float, size | (bits & sign));
}

// a - b * floor(a / b), with the sign of b: torch.remainder.
template <class Port>
constexpr float remainder(float a, float b) noexcept {
  const float rest = remainder_of_a(a, b);
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? Port::add(rest, b) : rest;
}

// The largest whole number up to a / b, as torch.floor_divide: the quotient of a less its
// remainder, rounded to a whole number.
template <class Port>
constexpr float floor_divide(float a, float b) noexcept {
  const float rest = remainder_of_a(a, b), share = Port::divide(a, b);
  if (b == 0.0f || rest != rest) return b == 0.0f ? share : rest;
  const float quotient = Port::divide(Port::add(a, -rest), b);
  const float size = quotient < 0.0f ? -quotient : quotient;
  float whole = size < 0x1p23f ? Port::add(Port::add(size, 0x1p23f), -0x1p23f) : size;
  whole = quotient < 0.0f ? -whole : whole;
  if (rest != 0.0f && (rest < 0.0f) != (b < 0.0f)) whole = Port::add(whole, -1.0f);
  return whole == 0.0f ? Port::mul(share, 0.0f) : whole;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
