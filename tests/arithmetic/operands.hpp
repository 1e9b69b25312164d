// SPDX-License-Identifier: MIT
//
// Operands for a * b + c that are hard to round: drawn at random, each kind as often as any other.
#pragma once

#include "in_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

namespace tinyattn::test {

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014 (SplitMix64).
class Randomness {
 public:
  explicit Randomness(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() noexcept {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  // first <= result < first + count
  int between(int first, int count) noexcept { return first + static_cast<int>((*this)() % static_cast<unsigned>(count)); }
  float sign() noexcept { return (*this)() % 2 != 0 ? 1.0f : -1.0f; }
  float bits() noexcept { return from_bits((*this)()); }

 private:
  std::uint64_t state_;
};

struct Operands {
  float a, b, c;
};

// A random sign and mantissa, times 2^exponent; rounded to a subnormal, to zero or to infinity where it has to be.
inline float with_exponent(Randomness& random, int exponent) {
  const float mantissa = from_bits((random() & 0x807fffffu) | 0x3f800000u);
  return std::ldexp(mantissa, exponent);
}

// Few bits set: exact products and sums, and many ties.
inline float with_few_bits(Randomness& random, int exponent) {
  return from_bits(bits_of(with_exponent(random, exponent)) & (0xffffffffu << random.between(8, 16)));
}

// Moves x by -8 to 8 floats.
inline float nudged(Randomness& random, float x) { return from_bits(bits_of(x) + static_cast<std::uint32_t>(random.between(-8, 17))); }

inline float special_value(Randomness& random) {
  constexpr std::uint32_t values[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x3f7fffff, 0x3f800000,
                                      0x3f800001, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x34000000, 0x4b800000};
  return from_bits(values[random() % std::size(values)] | (random() & 0x80000000u));
}

inline Operands any_bits(Randomness& random) { return {random.bits(), random.bits(), random.bits()}; }

inline Operands special_values(Randomness& random) {
  return {special_value(random), special_value(random), random() % 2 != 0 ? special_value(random) : random.bits()};
}

// As in a dot product: all of about one size.
inline Operands of_one_size(Randomness& random) {
  return {with_exponent(random, random.between(-4, 8)), with_exponent(random, random.between(-4, 8)),
          with_exponent(random, random.between(-8, 16))};
}

// The addend at every distance from the product, of every sign.
inline Operands at_any_distance(Randomness& random) {
  const int exponent = random.between(-60, 120);
  return {with_exponent(random, exponent), with_exponent(random, random.between(-20, 40)),
          with_exponent(random, exponent + random.between(-70, 140))};
}

// The sum keeps only what the product's rounding would have lost, or little more.
inline Operands cancelling(Randomness& random) {
  const float a = with_exponent(random, random.between(-70, 140)), b = with_exponent(random, random.between(-60, 120));
  return {a, b, nudged(random, -(a * b))};
}

// Factors of a number just beside 2^47, by less than 2^9: so near to a power of two that a sum keeps nothing of the difference
// but that there is one.
struct Factors {
  float first, second;
};

inline std::vector<Factors> factors_beside_a_power_of_two() {
  std::vector<Factors> found;
  for (std::uint64_t first = 1 << 23; first < 1 << 24; ++first) {
    const std::uint64_t second = (std::uint64_t{1} << 47) / first, rest = (std::uint64_t{1} << 47) - first * second;
    if (rest < 512) found.push_back({static_cast<float>(first), static_cast<float>(second)});
    if (first - rest < 512) found.push_back({static_cast<float>(first), static_cast<float>(second + 1)});
  }
  return found;
}

// c, and the exponents of two factors whose product is half the spacing of the floats at c.
struct Halfway {
  float c;
  int first, second;
};

inline Halfway halfway(Randomness& random) {
  const int exponent = random.between(-151, 279), half_spacing = std::max(exponent, -126) - 24;
  const int first = half_spacing / 2 + random.between(-20, 40);
  return {with_exponent(random, exponent), first, half_spacing - first};
}

// A tie, or the product one float beside one.
inline Operands tied(Randomness& random) {
  const auto [c, first, second] = halfway(random);
  const float beside = from_bits(bits_of(std::ldexp(random.sign(), second)) + static_cast<std::uint32_t>(random.between(-1, 3)));
  return {std::ldexp(1.0f, first), beside, c};
}

// A tie missed by less than the sum can hold.
inline Operands barely_not_tied(Randomness& random) {
  static const auto candidates = factors_beside_a_power_of_two();
  const Factors& factors = candidates[random() % candidates.size()];
  const auto [c, first, second] = halfway(random);
  return {std::ldexp(factors.first, first - 23), std::ldexp(factors.second * random.sign(), second - 24), c};
}

// The product may be a tie by itself, and the addend too small to do more than decide it.
inline Operands of_few_bits(Randomness& random) {
  const int exponent = random.between(-40, 80);
  return {with_few_bits(random, exponent), with_few_bits(random, random.between(-3, 6)),
          with_few_bits(random, exponent + random.between(-90, 120))};
}

// Around 2^128, with an addend that can still turn the scale.
inline Operands overflowing(Randomness& random) {
  const int exponent = random.between(0, 128);
  return {with_exponent(random, exponent), with_exponent(random, 127 - exponent + random.between(-1, 3)),
          with_exponent(random, random.between(98, 30))};
}

// A result around or below 2^-126.
inline Operands underflowing(Randomness& random) {
  const int exponent = random.between(-140, 140);
  return {with_exponent(random, exponent), with_exponent(random, -126 - exponent + random.between(-30, 40)),
          random() % 4 == 0 ? from_bits(random() & 0x80000000u) : with_exponent(random, random.between(-150, 40))};
}

inline Operands draw(Randomness& random) {
  constexpr Operands (*kinds[])(Randomness&) = {any_bits, special_values,  of_one_size, at_any_distance, cancelling,
                                                tied,     barely_not_tied, of_few_bits, overflowing,     underflowing};
  return kinds[random() % std::size(kinds)](random);
}

}  // namespace tinyattn::test
