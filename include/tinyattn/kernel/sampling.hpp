// SPDX-License-Identifier: MIT
//
// The choice of a token. Nothing is sorted and nothing stored: the tokens that remain are found by
// counting, one bit of a threshold after the other.
#pragma once

#include "tinyattn/kernel/softmax.hpp"

#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Maps x, from -infinity to infinity, to an unsigned integer of the same order; both zeros map to
// the same integer.
constexpr std::uint32_t rank_of(float x) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  constexpr std::uint32_t sign = 0x80000000u;
  return (bits & sign) != 0 ? sign - (bits & ~sign) : sign + bits;
}

// Returns the index of the largest element, the first of several; a NaN counts as -infinity.
constexpr std::size_t index_of_largest(const float* x, std::size_t count) noexcept {
  std::size_t index = 0;
  float largest = -infinity;
  for (std::size_t i = 0; i < count; ++i)
    if (largest < x[i]) {
      largest = x[i];
      index = i;
    }
  return index;
}

// Divides the finite elements; a NaN becomes -infinity.
template <class Single>
constexpr void divide_finite(float* x, std::size_t count, float divisor) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (!(x[i] > -infinity))
      x[i] = -infinity;
    else if (x[i] < infinity)
      x[i] = quotient<Single>(x[i], divisor);
}

// Returns a probability in units of 2^-63, rounded down. A sum of floats would lose terms that are
// small next to it; a sum of such units is exact, and that of a distribution fits into 64 bits.
constexpr std::uint64_t in_units(float p) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, p);
  const std::uint64_t mantissa = (bits << 8) | 0x80000000u;
  const std::uint32_t halvings = 127 - (bits >> 23);
  return halvings < 64 ? mantissa << 32 >> halvings : 0;
}

// Keeps the fewest of the largest elements whose amounts add up to `wanted` or more, and of equal
// ones the first; sets the others to `fallen`. Keeps all if all amounts together are less. In most
// passes only few amounts are added: [[unlikely]] keeps compilers from computing all of them.
template <class Amount>
constexpr void keep_largest(float* x, std::size_t count, Amount wanted, const auto& amount_of,
                            float fallen) noexcept {
  // Finds, bit by bit, the highest rank for which the elements of that rank or a higher one reach
  // `wanted`; `kept` is the amount of those of a higher rank.
  std::uint32_t threshold = 0;
  Amount kept = 0;
  for (std::uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    Amount more = kept;
    for (std::size_t i = 0; i < count; ++i)
      if (rank_of(x[i]) - (threshold | bit) < bit) [[unlikely]]
        more += amount_of(x[i]);
    if (more >= wanted)
      threshold |= bit;
    else
      kept = more;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t rank = rank_of(x[i]);
    if (rank == threshold && kept < wanted)
      kept += amount_of(x[i]);
    else if (rank <= threshold)
      x[i] = fallen;
  }
}

// Returns `fraction` of the sum of p, which in floats is not exactly 1. The fraction is below 1,
// and 24 of its bits count.
constexpr std::uint64_t share_of(const float* p, std::size_t count, float fraction) noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += in_units(p[i]);
  return (total >> 24) * (in_units(fraction) >> 39);
}

// Returns the first index at which the running sum of p exceeds `fraction` of its total.
constexpr std::size_t index_at(const float* p, std::size_t count, float fraction) noexcept {
  const std::uint64_t bound = share_of(p, count, fraction);
  std::uint64_t sum = in_units(p[0]);
  std::size_t i = 0;
  while (sum <= bound && i + 1 < count) sum += in_units(p[++i]);
  return i;
}

// Returns the token at which the running sum of probabilities exceeds `fraction`, from 0 to below
// 1, after temperature, top_k and top_p. Overwrites the logits p. The temperature is above 0; if
// dividing by it makes the largest logit infinite, that token is returned. An infinite temperature
// makes all logits equal, so it divides after `top_k` has chosen. A NaN counts as -infinity.
template <class Port>
constexpr std::size_t draw(float* p, std::size_t count, float temperature, std::size_t top_k,
                           float top_p, float fraction) noexcept {
  using Single = typename Port::one_lane;
  const std::size_t largest = index_of_largest(p, count);
  divide_finite<Single>(p, count, temperature < infinity ? temperature : 1.0f);
  if (!(p[largest] < infinity && p[largest] > -infinity)) return largest;
  if (top_k != 0 && top_k < count)
    keep_largest(
        p, count, top_k, [](float) { return std::size_t{1}; }, -infinity);
  if (!(temperature < infinity)) divide_finite<Single>(p, count, infinity);
  softmax<Port, false>(
      1, {p, count}, {p, count}, [=](std::size_t) { return count; }, 1.0f);
  if (top_p < 1.0f)
    keep_largest(p, count, top_p > 0x1p-24f ? share_of(p, count, top_p) : 1, in_units, 0.0f);
  return index_at(p, count, fraction);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
