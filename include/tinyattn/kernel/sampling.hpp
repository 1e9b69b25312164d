// SPDX-License-Identifier: MIT
//
// The choice of a token. Nothing is sorted and nothing stored: what is left of the logits is found
// by counting, a bit of the threshold after the other.
#pragma once

#include "tinyattn/kernel/softmax.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// A number that rises with x, from -infinity to infinity; both zeros have one.
constexpr std::uint32_t rank_of(float x) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  constexpr std::uint32_t sign = 0x80000000u;
  return (bits & sign) != 0 ? sign - (bits & ~sign) : sign + bits;
}

// The first of the largest.
constexpr std::size_t index_of_largest(const float* x, std::size_t count) noexcept {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < count; ++i)
    if (x[largest] < x[i]) largest = i;
  return largest;
}

// The largest rank at which suffices(rank) holds, or 0: it holds below every rank at which it
// holds.
constexpr std::uint32_t highest_rank(const auto& suffices) noexcept {
  std::uint32_t rank = 0;
  for (std::uint32_t bit = 0x80000000u; bit != 0; bit >>= 1)
    if (suffices(rank | bit)) rank |= bit;
  return rank;
}

// How many have this rank or a higher one, and their running sum, in rising order.
constexpr std::size_t number_from(const float* x, std::size_t count, std::uint32_t rank) noexcept {
  std::size_t number = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (rank_of(x[i]) >= rank) ++number;
  return number;
}
template <class Single>
constexpr float sum_from(const float* p, std::size_t count, std::uint32_t rank) noexcept {
  float sum = 0.0f;
  for (std::size_t i = 0; i < count; ++i)
    if (rank_of(p[i]) >= rank) sum = Single::add(sum, p[i]);
  return sum;
}

// Keeps the `top_k` largest, of equal ones the first; the others become -infinity.
constexpr void keep_largest(float* x, std::size_t count, std::size_t top_k) noexcept {
  const std::uint32_t threshold =
      highest_rank([=](std::uint32_t rank) { return number_from(x, count, rank) >= top_k; });
  std::size_t ties = top_k - number_from(x, count, threshold + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t rank = rank_of(x[i]);
    if (rank == threshold && ties != 0)
      --ties;
    else if (rank <= threshold)
      x[i] = -infinity;
  }
}

// Keeps the fewest of the largest whose running sum, in rising order, reaches `top_p`, of equal
// ones the first; the others become 0.
template <class Single>
constexpr void keep_most_likely(float* p, std::size_t count, float top_p) noexcept {
  const std::uint32_t threshold = highest_rank([=](std::uint32_t rank) {
    const float sum = sum_from<Single>(p, count, rank);
    return sum > 0.0f && sum >= top_p;
  });
  float sum = sum_from<Single>(p, count, threshold + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t rank = rank_of(p[i]);
    if (rank == threshold && (sum < top_p || sum == 0.0f))
      sum = Single::add(sum, p[i]);
    else if (rank <= threshold)
      p[i] = 0.0f;
  }
}

// The first at which the running sum of p exceeds `fraction` of its total; if rounding leaves none,
// the last that is not 0.
template <class Single>
constexpr std::size_t index_at(const float* p, std::size_t count, float fraction) noexcept {
  float total = 0.0f;
  for (std::size_t i = 0; i < count; ++i) total = Single::add(total, p[i]);
  const float bound = Single::mul(total, fraction);
  float sum = 0.0f;
  std::size_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum = Single::add(sum, p[i]);
    if (sum > bound) return i;
    if (p[i] > 0.0f) last = i;
  }
  return last;
}

// The token at `fraction`, from 0 to 1, of what is left of the logits p, which are overwritten. The
// temperature is above 0; if it makes the largest logit infinite, that one is taken. A NaN counts
// as -infinity.
template <class Port>
constexpr std::size_t draw(float* p, std::size_t count, float temperature, std::size_t top_k,
                           float top_p, float fraction) noexcept {
  using Single = typename Port::one_lane;
  for (std::size_t i = 0; i < count; ++i)
    if (p[i] != p[i]) p[i] = -infinity;
  const std::size_t largest = index_of_largest(p, count);
  for (std::size_t i = 0; i < count; ++i) p[i] = quotient<Single>(p[i], temperature);
  if (!(p[largest] < infinity && p[largest] > -infinity)) return largest;
  if (top_k != 0 && top_k < count) keep_largest(p, count, top_k);
  softmax<Port, false>(1, {p, count}, {p, count}, see_all(count), 0, 1.0f);
  if (top_p < 1.0f) keep_most_likely<Single>(p, count, top_p);
  return index_at<Single>(p, count, fraction);
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
