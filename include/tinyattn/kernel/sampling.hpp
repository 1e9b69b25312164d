// SPDX-License-Identifier: MIT
//
// The choice of a token. Nothing is sorted and nothing stored: what is left of the logits is found
// by counting, a bit of the threshold after the other.
#pragma once

#include "tinyattn/kernel/math.hpp"
#include "tinyattn/kernel/softmax.hpp"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Maps x, from -infinity to infinity, to an unsigned integer of the same order; both zeros map to
// the same integer.
constexpr std::uint32_t rank_of(float x) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  constexpr std::uint32_t sign = 0x80000000u;
  return (bits & sign) != 0 ? sign - (bits & ~sign) : sign + bits;
}

// The first of the largest, in which a NaN counts as -infinity.
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

// Divides what is finite; a NaN becomes -infinity.
template <class Single>
constexpr void divide_finite(float* x, std::size_t count, float divisor) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (!(x[i] > -infinity))
      x[i] = -infinity;
    else if (x[i] < infinity)
      x[i] = quotient<Single>(x[i], divisor);
}

// A probability in units of 2^-63, rounded down. A running sum of floats would not grow by what is
// small next to it; one of these is exact, and that of a distribution fits in 64 bits.
constexpr std::uint64_t in_units(float p) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, p);
  const std::uint64_t mantissa = (bits << 8) | 0x80000000u;
  const std::uint32_t halvings = 127 - (bits >> 23);
  return halvings < 64 ? mantissa << 32 >> halvings : 0;
}

// Keeps the fewest of the largest whose amounts reach `wanted`, of equal ones the first; the others
// become `fallen`. If the amounts of all do not reach it, all stay. Most passes meet few whose
// amount counts: [[unlikely]] keeps compilers from computing that of each.
template <class Amount>
constexpr void keep_largest(float* x, std::size_t count, Amount wanted, const auto& amount_of,
                            float fallen) noexcept {
  // The highest rank from which on they reach it, bit by bit, and the amount of those above it.
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

// What `fraction`, 24 bits, and below 1, is of the sum of p, which floats do not bring to 1
// exactly.
constexpr std::uint64_t share_of(const float* p, std::size_t count, float fraction) noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += in_units(p[i]);
  return (total >> 24) * (in_units(fraction) >> 39);
}

// The first at which the running sum of p exceeds `fraction` of its total.
constexpr std::size_t index_at(const float* p, std::size_t count, float fraction) noexcept {
  const std::uint64_t bound = share_of(p, count, fraction);
  std::uint64_t sum = in_units(p[0]);
  std::size_t i = 0;
  while (sum <= bound && i + 1 < count) sum += in_units(p[++i]);
  return i;
}

// The token at `fraction`, from 0 to below 1, of what is left of the logits p, which are
// overwritten. The temperature is above 0; if it makes the largest logit infinite, that one is
// taken. An infinite one makes all equal, so it divides after `top_k` has chosen. A NaN counts as
// -infinity.
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
  softmax<Port, false>(1, {p, count}, {p, count}, no_mask(count), 0, 1.0f);
  if (top_p < 1.0f)
    keep_largest(p, count, top_p > 0x1p-24f ? share_of(p, count, top_p) : 1, in_units, 0.0f);
  return index_at(p, count, fraction);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
