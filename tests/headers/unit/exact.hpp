// SPDX-License-Identifier: MIT
//
// The exact results of fma, exp, log and sqrt, from integers and doubles alone, wide enough that nothing is rounded before the end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tinyattn::test {

// A natural number, low bit first, in units of 2^-298, the smallest product of two floats: wide enough for every product, addend and sum.
struct Wide {
  std::array<bool, 576> bits{};

  constexpr Wide(std::uint64_t mantissa, unsigned shift) noexcept {
    for (; mantissa != 0; mantissa >>= 1) bits[shift++] = (mantissa & 1u) != 0;
  }

  // Returns the number of bits up to the highest set bit.
  constexpr std::size_t width() const noexcept {
    return static_cast<std::size_t>(bits.rend() - std::find(bits.rbegin(), bits.rend(), true));
  }

  constexpr bool any_below(std::size_t position) const noexcept {
    const auto end = bits.begin() + static_cast<std::ptrdiff_t>(position);
    return std::find(bits.begin(), end, true) != end;
  }

  constexpr bool operator<(const Wide& other) const noexcept {
    return std::lexicographical_compare(bits.rbegin(), bits.rend(), other.bits.rbegin(), other.bits.rend());
  }

  // *this + sign * other, which must not be negative.
  constexpr Wide plus(int sign, const Wide& other) const noexcept {
    Wide result = *this;
    int carry = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      carry += bits[i] + sign * other.bits[i];
      result.bits[i] = carry % 2 != 0;
      carry = (carry - result.bits[i]) / 2;
    }
    return result;
  }
};

// A finite float is mantissa * 2^(exponent - 149).
struct Parts {
  bool negative;
  std::uint32_t mantissa;
  unsigned exponent;
};

constexpr Parts parts(float x) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t biased = bits >> 23 & 0xffu;
  return {bits >> 31 != 0, biased == 0 ? bits & 0x7fffffu : (bits & 0x7fffffu) | 0x800000u, biased == 0 ? 0 : biased - 1};
}

// Rounds magnitude * 2^-298 to the nearest float: ties to even, overflow to infinity.
constexpr float round_to_float(bool negative, const Wide& magnitude) noexcept {
  const std::size_t width = magnitude.width();
  const std::size_t last = width < 149 + 24 ? 149 : width - 24;
  std::uint32_t kept = 0;
  for (std::size_t i = last + 24; i-- > last;) kept = kept << 1 | magnitude.bits[i];
  if (magnitude.bits[last - 1] && (magnitude.any_below(last - 1) || (kept & 1u) != 0)) ++kept;
  const auto bits = static_cast<std::uint32_t>((last - 149) << 23) + kept;
  return __builtin_bit_cast(float, (negative ? 0x80000000u : 0u) | (bits < 0x7f800000u ? bits : 0x7f800000u));
}

// a * b + c of finite numbers, rounded once.
constexpr float exact_fma(float a, float b, float c) noexcept {
  const Parts x = parts(a);
  const Parts y = parts(b);
  const Parts z = parts(c);
  const bool negative = x.negative != y.negative;
  const Wide product(std::uint64_t{x.mantissa} * y.mantissa, x.exponent + y.exponent);
  const Wide addend(z.mantissa, z.exponent + 149);
  if (negative == z.negative) return round_to_float(negative, product.plus(1, addend));
  if (product < addend) return round_to_float(z.negative, addend.plus(-1, product));
  const Wide difference = product.plus(-1, addend);
  return round_to_float(negative && difference.width() != 0, difference);
}

// e^x in double: range reduction by n * ln 2, then a Taylor series; relative error about 1e-14.
constexpr double exact_exp(double x) noexcept {
  const double ln2 = 0.693147180559945309417;
  const int n = static_cast<int>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const double r = x - n * ln2;
  double sum = 1;
  for (int i = 18; i > 0; --i) sum = 1 + sum * r / i;
  for (int i = 0; i < n; ++i) sum *= 2;
  for (int i = 0; i > n; --i) sum /= 2;
  return sum;
}

// The natural logarithm of a positive number: 2 * artanh((m - 1) / (m + 1)), m from sqrt(1/2) to sqrt(2).
constexpr double exact_log(double x) noexcept {
  int n = 0;
  for (; x > 1.41421356; ++n) x /= 2;
  for (; x < 0.70710678; --n) x *= 2;
  const double s = (x - 1) / (x + 1);
  double sum = 0;
  for (int i = 23; i > 0; i -= 2) sum = sum * s * s + 1.0 / i;
  return n * 0.693147180559945309417 + 2 * s * sum;
}

// Returns the distance from one float to the next at a positive value.
constexpr double ulp(double value) noexcept {
  double step = 0x1p-149;
  while (step * 0x1p24 <= value) step *= 2;
  return step;
}

constexpr bool within_one_ulp(float actual, double expected) noexcept {
  const double error = static_cast<double>(actual) - expected;
  return (error < 0 ? -error : error) <= ulp(expected);
}

// Whether no float is nearer to the square root of x > 0: compares squares as integers, in quarters of the root's ulp.
constexpr bool is_nearest_root(float root, float x) noexcept {
  const Parts r = parts(root);
  const Parts square = parts(x);
  // A root is never subnormal: for a correct one this shift is 22 to 48.
  const unsigned shift = square.exponent + 149 - 2 * r.exponent;
  if (r.negative || shift > 48) return false;
  const std::uint64_t sixteen_x = std::uint64_t{square.mantissa} << (shift + 4);
  const std::uint64_t four_roots = 4 * std::uint64_t{r.mantissa};
  const std::uint64_t below = four_roots - (r.mantissa == 0x800000u ? 1 : 2);
  const std::uint64_t above = four_roots + 2;
  return below * below <= sixteen_x && sixteen_x <= above * above;
}

// Whether no float is nearer to 1 / sqrt(n), for 1 <= n <= 4096: with the squared midpoints to its neighbours, times n, on both sides of 1.
constexpr bool is_nearest_inverse_root(float inverse, std::uint64_t n) noexcept {
  const Parts parts_of_inverse = parts(inverse);
  const std::uint64_t one = std::uint64_t{1} << 2 * (150 - parts_of_inverse.exponent);
  const std::uint64_t twice = 2 * std::uint64_t{parts_of_inverse.mantissa};
  return !parts_of_inverse.negative && (twice - 1) * (twice - 1) * n <= one && one <= (twice + 1) * (twice + 1) * n;
}

}  // namespace tinyattn::test
