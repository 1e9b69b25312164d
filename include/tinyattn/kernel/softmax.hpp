// SPDX-License-Identifier: MIT
//
// Softmax of one row, and the sum behind it. Every row is a probability distribution; a row in which
// nothing takes part is zero.
#pragma once

#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/kernel/visible.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// to[j] = apply(from[j]) for every vector of a row; `to` may be `from`.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void transform_row(const float* from, float* to, std::size_t count, auto apply) noexcept {
  std::size_t j = 0;
  for (; j + Port::lanes <= count; j += Port::lanes) Port::store(to + j, apply(Port::load(from + j)));
  if constexpr (Port::lanes > 1)
    if (j < count) Port::store_n(to + j, apply(Port::load_n(from + j, count - j)), count - j);
}

// Folds `count` values in at most 16 lanes: lane q takes lane q + 8, then q + 4, q + 2 and q + 1, where there is one.
TINYATTN_ALWAYS_INLINE constexpr float fold(float* lanes, std::size_t count, auto combine) noexcept {
  for (std::size_t half = 8; half > 0; half /= 2)
    for (std::size_t q = half; q < smaller(2 * half, count); ++q) lanes[q - half] = combine(lanes[q - half], lanes[q]);
  return lanes[0];
}

// The largest element, or -infinity if there is none. With a NaN in the row it may be any element, and no
// result depends on which.
template <class Port>
constexpr float max_of_row(const float* row, std::size_t count) noexcept {
  using Single = typename Port::one_lane;
  auto largest = Port::fill(-infinity);
  std::size_t j = 0;
  for (; j + Port::lanes <= count; j += Port::lanes) largest = Port::max(largest, Port::load(row + j));
  float lanes[Port::lanes];
  Port::store(lanes, largest);
  float result = fold(lanes, Port::lanes, [](float a, float b) TINYATTN_INLINE_LAMBDA { return Single::max(a, b); });
  if constexpr (Port::lanes > 1)
    for (; j < count; ++j) result = Single::max(result, row[j]);
  return result;
}

// The sum in sixteen lanes that start at +0: element j goes into lane j % 16, and the lanes fold.
template <class Port>
constexpr float sum_of_row(const float* row, std::size_t count) noexcept {
  using Single = typename Port::one_lane;
  float lanes[16];
  lanes[0] = 0.0f;
  std::size_t j = 0;
  for (; j + Port::lanes <= count; j += Port::lanes) {
    float* const lane = lanes + j % 16;
    Port::store(lane, Port::add(j < 16 ? Port::fill(0.0f) : Port::load(lane), Port::load(row + j)));
  }
  if constexpr (Port::lanes > 1)
    for (; j < count; ++j) lanes[j % 16] = Single::add(j < 16 ? 0.0f : lanes[j % 16], row[j]);
  return fold(lanes, count, [](float a, float b) TINYATTN_INLINE_LAMBDA { return Single::add(a, b); });
}

// row[j] * (1 / sum of the row); zeros, of the elements' signs, if the sum is 0.
template <class Port>
constexpr void normalize_row(const float* row, float* out, std::size_t count) noexcept {
  const float sum = sum_of_row<Port>(row, count);
  const auto factor = Port::fill(sum == 0.0f ? 0.0f : 1.0f / sum);
  transform_row<Port>(row, out, count, [&](auto e) TINYATTN_INLINE_LAMBDA { return Port::mul(e, factor); });
}

// e^(scale * (scores[j] - m)) over their sum, m the largest score, or 0 if nothing takes part; scores of
// -infinity do not. `weights` may be `scores`. What is below e^-69 of the largest counts as 0, so that no
// subnormal arises; the comparison lets a NaN through.
template <class Port>
constexpr void softmax_row(const float* scores, float* weights, std::size_t count, float scale) noexcept {
  const float largest = max_of_row<Port>(scores, count);
  const auto shift = Port::fill(largest == -infinity ? 0.0f : -largest);
  const auto factor = Port::fill(scale);
  const auto cutoff = Port::fill(-69.0f);
  transform_row<Port>(scores, weights, count, [&](auto score) TINYATTN_INLINE_LAMBDA {
    const auto t = Port::mul(Port::add(score, shift), factor);
    return exp_of_nonpositive<Port>(Port::select_less(t, cutoff, Port::fill(exp_is_zero), t));
  });
  normalize_row<Port>(weights, weights, count);
}

// The same for query i, whose scores end at `end`, over the keys that it sees; the others weigh 0.
template <class Port, class Visible>
constexpr void masked_softmax_row(std::size_t i, float* scores, std::size_t end, float scale, const Visible& visible) noexcept {
  if constexpr (Visible::has_holes)
    for (std::size_t j = 0; j < end; ++j) scores[j] = visible.sees(i, j) ? visible.template score<Port>(i, j, scores[j], scale) : -infinity;
  softmax_row<Port>(scores, scores, end, Visible::adds ? 1.0f : scale);
  if constexpr (Visible::has_holes)
    for (std::size_t j = 0; j < end; ++j)
      if (!visible.sees(i, j)) scores[j] = 0.0f;
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
