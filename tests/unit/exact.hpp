// SPDX-License-Identifier: MIT
//
// What fma, exp and sqrt should give, from integers and doubles alone: wide enough that nothing is rounded before the end.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tinyattn::test {

// A natural number of 576 bits. In units of 2^-298, the smallest product of two floats, it holds every product, addend and sum.
class Wide {
 public:
  constexpr Wide(std::uint64_t mantissa, unsigned shift) noexcept {
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((mantissa >> bit & 1u) != 0) words_[(bit + shift) / 32] |= 1u << (bit + shift) % 32;
    }
  }

  constexpr bool bit(unsigned position) const noexcept { return (words_[position / 32] >> position % 32 & 1u) != 0; }
  constexpr bool is_zero() const noexcept { return words_ == std::array<std::uint32_t, count>{}; }

  constexpr bool any_below(unsigned position) const noexcept {
    for (unsigned i = 0; i < position; ++i) {
      if (bit(i)) return true;
    }
    return false;
  }

  constexpr unsigned top_bit() const noexcept {
    unsigned position = count * 32 - 1;
    while (!bit(position)) --position;
    return position;
  }

  constexpr bool operator<(const Wide& other) const noexcept {
    for (std::size_t i = count; i-- > 0;) {
      if (words_[i] != other.words_[i]) return words_[i] < other.words_[i];
    }
    return false;
  }

  constexpr Wide operator+(const Wide& other) const noexcept {
    Wide sum = *this;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < count; ++i) {
      carry += std::uint64_t{words_[i]} + other.words_[i];
      sum.words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return sum;
  }

  // *this must not be the smaller one.
  constexpr Wide operator-(const Wide& other) const noexcept {
    Wide difference = *this;
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t word = std::uint64_t{words_[i]} - other.words_[i] - borrow;
      difference.words_[i] = static_cast<std::uint32_t>(word);
      borrow = word >> 63;
    }
    return difference;
  }

 private:
  static constexpr std::size_t count = 18;
  std::array<std::uint32_t, count> words_{};
};

// A finite float is mantissa * 2^(exponent - 149).
struct Parts {
  bool negative;
  std::uint32_t mantissa;
  unsigned exponent;
};

constexpr Parts parts(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t biased = bits >> 23 & 0xffu;
  return {bits >> 31 != 0, biased == 0 ? bits & 0x7fffffu : (bits & 0x7fffffu) | 0x800000u, biased == 0 ? 0 : biased - 1};
}

// The float nearest to magnitude * 2^-298, ties to even, overflow to infinity.
constexpr float round_to_float(bool negative, const Wide& magnitude) noexcept {
  const std::uint32_t sign = negative ? 0x80000000u : 0u;
  if (magnitude.is_zero()) return std::bit_cast<float>(sign);
  const unsigned top = magnitude.top_bit();
  const unsigned last = top < 149 + 23 ? 149 : top - 23;
  std::uint32_t kept = 0;
  for (unsigned i = last + 24; i-- > last;) kept = kept << 1 | (magnitude.bit(i) ? 1u : 0u);
  const bool half = magnitude.bit(last - 1);
  if (half && (magnitude.any_below(last - 1) || (kept & 1u) != 0)) ++kept;
  const std::uint32_t bits = ((last - 149) << 23) + kept;
  return std::bit_cast<float>(sign | (bits < 0x7f800000u ? bits : 0x7f800000u));
}

// a * b + c for finite numbers, rounded once.
constexpr float exact_fma(float a, float b, float c) noexcept {
  const Parts x = parts(a);
  const Parts y = parts(b);
  const Parts z = parts(c);
  const bool negative = x.negative != y.negative;
  const Wide product(std::uint64_t{x.mantissa} * y.mantissa, x.exponent + y.exponent);
  const Wide addend(z.mantissa, z.exponent + 149);
  if (negative == z.negative) return round_to_float(negative, product + addend);
  if (product < addend) return round_to_float(z.negative, addend - product);
  const Wide difference = product - addend;
  return round_to_float(negative && !difference.is_zero(), difference);
}

// e^x in double: a Taylor series after taking out n * ln 2, good to about 1e-14 of the result.
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

// The distance from one float to the next at a positive value.
constexpr double ulp(double value) noexcept {
  double step = 0x1p-149;
  while (step * 0x1p24 <= value) step *= 2;
  return step;
}

constexpr bool within_one_ulp(float actual, double expected) noexcept {
  const double error = static_cast<double>(actual) - expected;
  return (error < 0 ? -error : error) <= ulp(expected);
}

// Whether no float is nearer to the square root of x, a positive number: compared squared, in integers, in quarters of the root's ulp.
constexpr bool is_nearest_root(float root, float x) noexcept {
  const Parts r = parts(root);
  const Parts square = parts(x);
  // A root is never subnormal, so a right one makes this a shift of 22 to 48.
  const unsigned shift = square.exponent + 149 - 2 * r.exponent;
  if (r.negative || shift > 48) return false;
  const std::uint64_t sixteen_x = std::uint64_t{square.mantissa} << (shift + 4);
  const std::uint64_t four_roots = 4 * std::uint64_t{r.mantissa};
  const std::uint64_t below = four_roots - (r.mantissa == 0x800000u ? 1 : 2);
  const std::uint64_t above = four_roots + 2;
  return below * below <= sixteen_x && sixteen_x <= above * above;
}

// Whether no float is nearer to 1 / sqrt(n), for 1 <= n <= 4096: its neighbours' middles squared, times n, lie on both sides of 1.
constexpr bool is_nearest_inverse_root(float inverse, std::uint64_t n) noexcept {
  const Parts parts_of_inverse = parts(inverse);
  const std::uint64_t one = std::uint64_t{1} << 2 * (150 - parts_of_inverse.exponent);
  const std::uint64_t twice = 2 * std::uint64_t{parts_of_inverse.mantissa};
  return !parts_of_inverse.negative && (twice - 1) * (twice - 1) * n <= one && one <= (twice + 1) * (twice + 1) * n;
}

}  // namespace tinyattn::test
