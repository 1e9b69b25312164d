// SPDX-License-Identifier: MIT
//
// Random operands for a * b + c that are hard to round, of several kinds with equal frequency.
#pragma once

#include "in_parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace tinyattn::test {

using Randomness = std::mt19937_64;
using Operands = std::array<float, 3>;

// first <= result < first + count
inline int between(Randomness& random, int first, int count) { return first + static_cast<int>(random() % static_cast<unsigned>(count)); }

inline float random_sign(Randomness& random) { return random() % 2 != 0 ? 1.0f : -1.0f; }

// A random sign and mantissa, times 2^exponent; may round to a subnormal, zero or infinity.
inline float with_exponent(Randomness& random, int exponent) {
  const float mantissa = from_bits((random() & 0x807fffffu) | 0x3f800000u);
  return std::ldexp(mantissa, exponent);
}

// A mantissa of few significant bits: products and sums are often exact, and often ties.
inline float with_few_bits(Randomness& random, int exponent) {
  return from_bits(bits_of(with_exponent(random, exponent)) & (0xffffffffu << between(random, 8, 16)));
}

// Moves x by -8 to 8 floats.
inline float nudged(Randomness& random, float x) { return from_bits(bits_of(x) + static_cast<std::uint32_t>(between(random, -8, 17))); }

inline float special_value(Randomness& random) {
  constexpr std::uint32_t values[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x3f7fffff, 0x3f800000,
                                      0x3f800001, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x34000000, 0x4b800000};
  return from_bits(values[random() % std::size(values)] | (random() & 0x80000000u));
}

inline Operands any_bits(Randomness& random) { return {from_bits(random()), from_bits(random()), from_bits(random())}; }

inline Operands special_values(Randomness& random) {
  return {special_value(random), special_value(random), random() % 2 != 0 ? special_value(random) : from_bits(random())};
}

// Operands of similar magnitude, as in a dot product.
inline Operands of_one_size(Randomness& random) {
  return {with_exponent(random, between(random, -4, 8)), with_exponent(random, between(random, -4, 8)),
          with_exponent(random, between(random, -8, 16))};
}

// The addend's exponent lies from some 90 below to 90 above the product's; signs are random.
inline Operands at_any_distance(Randomness& random) {
  const int exponent = between(random, -60, 120);
  return {with_exponent(random, exponent), with_exponent(random, between(random, -20, 40)),
          with_exponent(random, exponent + between(random, -70, 140))};
}

// c is -(a * b) rounded, moved by up to 8 floats: the sum is the product's rounding error, or little more.
inline Operands cancelling(Randomness& random) {
  const float a = with_exponent(random, between(random, -70, 140)), b = with_exponent(random, between(random, -60, 120));
  return {a, b, nudged(random, -(a * b))};
}

// Two floats whose product differs from 2^47 by less than 2^9. Scaled to half the spacing of floats at an addend, it makes the sum a tie
// but for a remainder that only affects rounding.
struct Factors {
  float first, second;
};

inline std::vector<Factors> factors_near_a_power_of_two() {
  std::vector<Factors> found;
  for (std::uint64_t first = 1 << 23; first < 1 << 24; ++first) {
    const std::uint64_t second = (std::uint64_t{1} << 47) / first, rest = (std::uint64_t{1} << 47) - first * second;
    if (rest < 512) found.push_back({static_cast<float>(first), static_cast<float>(second)});
    if (first - rest < 512) found.push_back({static_cast<float>(first), static_cast<float>(second + 1)});
  }
  return found;
}

// An addend c, and the exponents of two factors whose product is half the spacing of floats at c.
struct Halfway {
  float c;
  int first, second;
};

inline Halfway halfway(Randomness& random) {
  const int exponent = between(random, -151, 279), half_spacing = std::max(exponent, -126) - 24;
  const int first = half_spacing / 2 + between(random, -20, 40);
  return {with_exponent(random, exponent), first, half_spacing - first};
}

// The product is half the spacing of floats at c, so that the sum is a tie, or the float just below or above that.
inline Operands tied(Randomness& random) {
  const auto [c, first, second] = halfway(random);
  const float neighbour = from_bits(bits_of(std::ldexp(random_sign(random), second)) + static_cast<std::uint32_t>(between(random, -1, 3)));
  return {std::ldexp(1.0f, first), neighbour, c};
}

// Like `tied`, but off by less than a double could hold in the sum.
inline Operands barely_not_tied(Randomness& random) {
  static const auto candidates = factors_near_a_power_of_two();
  const Factors& factors = candidates[random() % candidates.size()];
  const auto [c, first, second] = halfway(random);
  return {std::ldexp(factors.first, first - 23), std::ldexp(factors.second * random_sign(random), second - 24), c};
}

// Operands of few bits: the product may be a tie, and a far smaller addend decides its rounding.
inline Operands of_few_bits(Randomness& random) {
  const int exponent = between(random, -40, 80);
  return {with_few_bits(random, exponent), with_few_bits(random, between(random, -3, 6)),
          with_few_bits(random, exponent + between(random, -90, 120))};
}

// A product near 2^128; the addend may decide whether the sum overflows.
inline Operands overflowing(Randomness& random) {
  const int exponent = between(random, 0, 128);
  return {with_exponent(random, exponent), with_exponent(random, 127 - exponent + between(random, -1, 3)),
          with_exponent(random, between(random, 98, 30))};
}

// A result near or below 2^-126.
inline Operands underflowing(Randomness& random) {
  const int exponent = between(random, -140, 140);
  return {with_exponent(random, exponent), with_exponent(random, -126 - exponent + between(random, -30, 40)),
          random() % 4 == 0 ? from_bits(random() & 0x80000000u) : with_exponent(random, between(random, -150, 40))};
}

inline Operands draw(Randomness& random) {
  constexpr Operands (*kinds[])(Randomness&) = {any_bits, special_values,  of_one_size, at_any_distance, cancelling,
                                                tied,     barely_not_tied, of_few_bits, overflowing,     underflowing};
  return kinds[random() % std::size(kinds)](random);
}

}  // namespace tinyattn::test
