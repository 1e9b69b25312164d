// SPDX-License-Identifier: MIT
//
// The choice of a token. Nothing is sorted and nothing stored: the tokens that remain are found by
// counting those above a threshold, which lies between ever closer bounds.
#pragma once

#include "tinyattn/kernel/softmax.hpp"

#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

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

// What top_k keeps: a number of logits. An amount is what an element counts; a rank has the order
// of the elements.
struct Logits {
  using Amount = std::size_t;
  static constexpr std::uint32_t highest_rank = 0xffffffffu;

  static constexpr Amount amount_of(float) noexcept { return 1; }

  // Of x from -infinity to infinity; both zeros have the same rank.
  static constexpr std::uint32_t rank_of(float x) noexcept {
    const auto bits = __builtin_bit_cast(std::uint32_t, x);
    constexpr std::uint32_t sign = 0x80000000u;
    return (bits & sign) != 0 ? sign - (bits & ~sign) : sign + bits;
  }
};

// What top_p keeps: a sum of probabilities, which are below 2.
struct Probabilities {
  using Amount = std::uint64_t;
  static constexpr std::uint32_t highest_rank = 0x3fffffffu;

  static constexpr Amount amount_of(float p) noexcept { return in_units(p); }
  static constexpr std::uint32_t rank_of(float p) noexcept {
    return __builtin_bit_cast(std::uint32_t, p);
  }
};

// Keeps the fewest of the largest elements whose amounts add up to `wanted` or more, and of equal
// ones the first; sets the others to `fallen`. Keeps all if all amounts together are less. In most
// passes only few amounts are added: [[unlikely]] keeps compilers from computing all of them.
template <class Of>
constexpr void keep_largest(float* x, std::size_t count, typename Of::Amount wanted,
                            float fallen) noexcept {
  // The candidates, whose ranks are from `lowest` to lowest + range: with those of higher ranks,
  // whose amount is `kept`, they reach `wanted`. Each pass halves the range.
  std::uint32_t lowest = 0, range = Of::highest_rank;
  std::size_t candidates = count;
  typename Of::Amount kept = 0;
  while (candidates > 1 && range != 0) {
    range /= 2;
    const std::uint32_t middle = lowest + range + 1;
    std::size_t higher = 0;
    typename Of::Amount more = kept;
    for (std::size_t i = 0; i < count; ++i)
      if (Of::rank_of(x[i]) - middle <= range) [[unlikely]] {
        more += Of::amount_of(x[i]);
        ++higher;
      }
    if (more >= wanted) {
      lowest = middle;
      candidates = higher;
    } else {
      kept = more;
      candidates -= higher;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t rank = Of::rank_of(x[i]);
    if (rank >= lowest && rank - lowest > range) continue;
    if (rank >= lowest && kept < wanted)
      kept += Of::amount_of(x[i]);
    else
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
  if (top_k != 0 && top_k < count) keep_largest<Logits>(p, count, top_k, -infinity);
  if (!(temperature < infinity)) divide_finite<Single>(p, count, infinity);
  softmax<Port, false>(
      1, {p, count}, {p, count}, [=](std::size_t) { return count; }, 1.0f);
  if (top_p < 1.0f)
    keep_largest<Probabilities>(p, count, top_p > 0x1p-24f ? share_of(p, count, top_p) : 1, 0.0f);
  return index_at(p, count, fraction);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
