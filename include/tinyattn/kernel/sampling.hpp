// SPDX-License-Identifier: MIT
//
// The choice of a token. A few tokens that remain are found in one pass, and all else is done to
// these alone. More are found by counting those above a threshold, which lies between ever closer
// bounds.
#pragma once

#include "tinyattn/kernel/largest.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Divides the finite elements; a NaN becomes -infinity.
template <class Single>
[[gnu::noinline]] constexpr void divide_finite(float* x, std::size_t count,
                                               float divisor) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (const std::uint32_t rank = rank_of(x[i]); rank < lowest_rank || rank > highest_rank)
      x[i] = -infinity;
    else if (!is_one(divisor) && rank > lowest_rank && rank < highest_rank)
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
  static constexpr std::uint32_t rank_of(float x) noexcept { return kernel::rank_of(x); }
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
// ones the first; sets the others to `fallen`. Keeps all if all amounts together are less. It is
// known that the elements of rank `enough` and above reach `wanted`. In most passes only few
// amounts are added: [[unlikely]] keeps compilers from computing all of them.
template <class Of>
[[gnu::noinline]] constexpr void keep_largest(float* x, std::size_t count,
                                              typename Of::Amount wanted, std::uint32_t enough,
                                              float fallen) noexcept {
  // The candidates, whose ranks are from `lowest` to lowest + range: with those of higher ranks,
  // whose amount is `kept`, they reach `wanted`. Each pass halves the range.
  std::uint32_t lowest = 0, range = Of::highest_rank;
  std::size_t candidates = count;
  typename Of::Amount kept = 0;
  while (candidates > 1 && range != 0) {
    range /= 2;
    const std::uint32_t middle = lowest + range + 1;
    if (middle <= enough) {
      lowest = middle;
      continue;
    }
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
[[gnu::noinline]] constexpr std::uint64_t share_of(const float* p, std::size_t count,
                                                   float fraction) noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += in_units(p[i]);
  return (total >> 24) * (in_units(fraction) >> 39);
}

// Returns the first index at which the running sum of p exceeds `fraction` of its total.
[[gnu::noinline]] constexpr std::size_t index_at(const float* p, std::size_t count,
                                                 float fraction) noexcept {
  const std::uint64_t bound = share_of(p, count, fraction);
  std::uint64_t sum = in_units(p[0]);
  std::size_t i = 0;
  while (sum <= bound && i + 1 < count) sum += in_units(p[++i]);
  return i;
}

// Returns the sum of a few probabilities.
constexpr std::uint64_t sum_of(const Few& few) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < few.size(); ++i) sum += in_units(few.value(i));
  return sum;
}

// Softmax in place of all elements, or of the few, if there are any, that lie at the front of p.
// The sum is that of all, in sixteen lanes.
template <class Port>
[[gnu::noinline]] constexpr void softmax_of(float* p, std::size_t count, float largest,
                                            const Few& few) noexcept {
  const auto shift = Port::broadcast(-largest);
  transform_row<Port>(p, p, count, [=](auto v) TINYATTN_INLINE_LAMBDA {
    return exponential<Port>(v, shift, Port::broadcast(1.0f));
  });
  float lanes[16];
  const bool is_few = few.size() != 0;
  if (is_few) few.add_in_lanes<typename Port::one_lane>(p, lanes);
  const auto factor = reciprocal<Port>(sum_of_row<Port>(is_few ? lanes : p, is_few ? 16 : count));
  transform_row<Port>(p, p, count,
                      [=](auto v) TINYATTN_INLINE_LAMBDA { return Port::mul(v, factor); });
}

// Keeps the fewest of the largest probabilities that add up to top_p, and sets the others to 0.
// Returns how many then lie at the front of p: all, or a few.
template <class Single>
constexpr std::size_t keep_top_p(float* p, std::size_t count, float top_p, Few& few) noexcept {
  const bool keeps_one = !(top_p > 0x1p-24f);
  const std::uint64_t wanted = keeps_one ? 1 : share_of(p, count, top_p);
  // If all are below `enough`, half of an equal part of what top_p leaves, they are less than that.
  const float others = keeps_one ? 1.0f : Single::add(1.0f, -top_p);
  const float enough = others / static_cast<float>(2 * count);
  if (count > Few::most) {
    few.find<Single>(p, count, Few::most, 1.0f);
    if (sum_of(few) >= wanted) {
      few.gather(p);
      count = few.size();
    } else {
      few.clear();
    }
  }
  keep_largest<Probabilities>(p, count, wanted, Probabilities::rank_of(enough), 0.0f);
  return count;
}

// Returns the token at which the running sum of probabilities exceeds `fraction`, from 0 to below
// 1, after temperature, top_k and top_p. Overwrites the logits p. The temperature is above 0; if
// dividing by it makes the largest logit infinite, that token is returned. An infinite temperature
// makes all logits equal, so it divides after `top_k` has chosen. A NaN counts as -infinity.
template <class Port>
constexpr std::size_t draw(float* p, std::size_t count, float temperature, std::size_t top_k,
                           float top_p, float fraction) noexcept {
  using Single = typename Port::one_lane;
  const float divisor = temperature < infinity ? temperature : 1.0f;
  Few few;
  if (top_k != 0 && top_k < count && top_k <= Few::most) few.find<Single>(p, count, top_k, divisor);
  std::size_t left = few.size();
  if (left == 0)
    left = count;
  else
    few.gather(p);
  const std::size_t index = index_of_largest(p, left);
  float largest = p[index];
  if (few.size() == 0) {
    divide_finite<Single>(p, count, divisor);
    largest = p[index];
    if (!(largest < infinity && largest > -infinity)) return index;
    if (top_k != 0 && top_k < count) keep_largest<Logits>(p, count, top_k, 0, -infinity);
  }
  if (!(temperature < infinity)) {
    divide_finite<Single>(p, left, infinity);
    largest = 0.0f;
  }
  softmax_of<Port>(p, left, largest, few);
  if (top_p < 1.0f) left = keep_top_p<Single>(p, left, top_p, few);
  const std::size_t token = index_at(p, left, fraction);
  if (few.size() == 0) return token;
  few.scatter(p, count);
  return few.index(token);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
