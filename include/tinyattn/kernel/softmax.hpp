// SPDX-License-Identifier: MIT
//
// Softmax of one row, and the sum behind it. Every row is a probability distribution; a row in which
// nothing takes part is zero.
#pragma once

#include "tinyattn/kernel/one_lane.hpp"
#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/kernel/parts.hpp"
#include "tinyattn/kernel/visible.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>
#include <limits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// to[j] = apply(from[j]) for every vector of a row; `to` may be `from`.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void transform_row(const float* from, float* to, std::size_t count, auto apply) noexcept {
  for_each_vector<Port>(count,
                        [=](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA { store<Port>(to + j, apply(load<Port>(from + j, n)), n); });
}

// What the lanes of a vector combine to, in every lane: lane q takes lane q + lanes / 2, then q + lanes / 4, and so on to q + 1.
template <class Port, std::size_t Half = Port::lanes / 2>
TINYATTN_ALWAYS_INLINE constexpr auto fold(typename Port::vec v, auto combine) noexcept {
  if constexpr (Half == 0)
    return v;
  else
    return fold<Port, Half / 2>(combine(v, Port::template swapped<Half>(v)), combine);
}

// The sixteen lanes of a row sum, which start at +0.
template <class Port>
struct SixteenLanes {
  static constexpr std::size_t vectors = 16 / Port::lanes;
  typename Port::vec sums[vectors];

  TINYATTN_ALWAYS_INLINE constexpr SixteenLanes() noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < vectors; ++v) sums[v] = Port::fill(0.0f);
  }

  TINYATTN_ALWAYS_INLINE constexpr void add(std::size_t v, typename Port::vec terms) noexcept { sums[v] = Port::add(sums[v], terms); }

  // Lane q takes lane q + 8, then q + 4, q + 2 and q + 1.
  TINYATTN_ALWAYS_INLINE constexpr float total() noexcept {
    TINYATTN_UNROLL
    for (std::size_t half = vectors / 2; half > 0; half /= 2) {
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < half; ++v) add(v, sums[v + half]);
    }
    return Port::first(fold<Port>(sums[0], [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return Port::add(a, b); }));
  }
};

// The sum of what term(j, n) gives for the vectors of a row: element j goes into lane j % 16. Behind the last element a term is +0.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr float sum_of_terms(std::size_t count, auto term) noexcept {
  SixteenLanes<Port> lanes;
  std::size_t j = 0;
  for (; j + 16 <= count; j += 16) {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < lanes.vectors; ++v) lanes.add(v, term(j + v * Port::lanes, Extent<Port::lanes>{}));
  }
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < lanes.vectors; ++v, j += Port::lanes)
    if (j < count) lanes.add(v, term(j, smaller(Port::lanes, count - j)));
  return lanes.total();
}

template <class Port>
constexpr float sum_of_row(const float* row, auto count) noexcept {
  if constexpr (Port::lanes == 1)
    return sum_of_floats<Port>(row, count);
  else
    return sum_of_terms<Port>(count, [=](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA { return load<Port>(row + j, n); });
}

// What the elements of a row are multiplied with to add up to 1; 0 if their sum is 0.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto reciprocal(float sum) noexcept {
  return Port::fill(sum == 0.0f ? 0.0f : 1.0f / sum);
}

// row[j] * (1 / sum of the row); zeros, of the elements' signs, if the sum is 0.
template <class Port>
constexpr void normalize_row(const float* row, float* out, auto count) noexcept {
  const auto factor = reciprocal<Port>(sum_of_row<Port>(row, count));
  transform_row<Port>(row, out, count, [&](auto e) TINYATTN_INLINE_LAMBDA { return Port::mul(e, factor); });
}

// The largest of the scores that take part; those of -infinity do not. If nothing does, it is the least float, which
// leaves them at -infinity. With a NaN in the row it may be any element, and no result depends on which.
template <class Port>
struct Largest {
  typename Port::vec largest = Port::fill(std::numeric_limits<float>::lowest());

  TINYATTN_ALWAYS_INLINE constexpr void take(typename Port::vec scores) noexcept { largest = Port::max(largest, scores); }

  TINYATTN_ALWAYS_INLINE constexpr float total() const noexcept {
    return Port::first(fold<Port>(largest, [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return Port::max(a, b); }));
  }
};

// e^(scale * (score - largest)). What is below e^-69 counts as 0, so that no subnormal arises; the comparison lets a NaN through.
template <class Port>
struct Exponentials {
  typename Port::vec shift;
  typename Port::vec scale;

  TINYATTN_ALWAYS_INLINE constexpr Exponentials(float largest, float factor) noexcept
      : shift(Port::fill(-largest)), scale(Port::fill(factor)) {}

  TINYATTN_ALWAYS_INLINE constexpr auto operator()(typename Port::vec score) const noexcept {
    const auto t = Port::mul(Port::add(score, shift), scale);
    return exp_of_nonpositive<Port>(Port::select_less(t, Port::fill(-69.0f), Port::fill(exp_is_zero), t));
  }
};

// softmax_row for rows that fit `Vectors` registers, the last of which may be a part of one.
template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void softmax_in_registers(const float* scores, float* weights, std::size_t count, float scale) noexcept {
  constexpr std::size_t last = (Vectors - 1) * Port::lanes;
  typename Port::vec row[Vectors];
  Largest<Port> largest;
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < Vectors; ++v) {
    row[v] = v * Port::lanes < last ? Port::load(scores + v * Port::lanes) : Port::load_n(scores + last, count - last, -infinity);
    largest.take(row[v]);
  }
  const Exponentials<Port> exponential(largest.total(), scale);
  SixteenLanes<Port> lanes;
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < Vectors; ++v) lanes.add(v % lanes.vectors, row[v] = exponential(row[v]));
  const auto factor = reciprocal<Port>(lanes.total());
  TINYATTN_UNROLL
  for (std::size_t v = 0; v + 1 < Vectors; ++v) Port::store(weights + v * Port::lanes, Port::mul(row[v], factor));
  Port::store_n(weights + last, Port::mul(row[Vectors - 1], factor), count - last);
}

// The same for rows of any length, in three passes.
template <class Port>
constexpr void softmax_in_memory(const float* scores, float* weights, std::size_t count, float scale) noexcept {
  Largest<Port> largest;
  for_each_vector<Port>(count, [&](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA { largest.take(load<Port>(scores + j, n, -infinity)); });
  const Exponentials<Port> exponential(largest.total(), scale);
  const auto factor = reciprocal<Port>(sum_of_terms<Port>(count, [&](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA {
    const auto e = exponential(load<Port>(scores + j, n, -infinity));
    store<Port>(weights + j, e, n);
    return e;
  }));
  transform_row<Port>(weights, weights, count, [&](auto e) TINYATTN_INLINE_LAMBDA { return Port::mul(e, factor); });
}

// The same on one lane.
template <class Port>
constexpr void softmax_of_floats(const float* scores, float* weights, auto count, float scale) noexcept {
  if (count == 0) return;
  Largest<Port> largest;
  for_each_group<Port>(count, [&](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA {
    constexpr std::size_t size = n;
    float group[size];
    Port::load_row(scores + j, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e) largest.take(group[e]);
  });
  transform_each(scores, weights, count, Exponentials<Port>(largest.total(), scale));
  scale_floats<Port>(weights, count, reciprocal<Port>(sum_of_floats<Port>(weights, count)));
}

// The same for a row of at most `Most` floats, which has room for so many.
template <class Port, std::size_t Most>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_few(float* row, std::size_t count, float scale) noexcept {
  if (count == 0) return;
  Largest<Port> largest;
  for_each_group<Port>(count, [&](std::size_t j, auto) TINYATTN_INLINE_LAMBDA { largest.take(row[j]); });
  transform_each(row, row, count, Exponentials<Port>(largest.total(), scale));
  for (std::size_t j = count; j < Most; ++j) row[j] = 0.0f;
  scale_floats<Port>(row, Extent<Most>{}, reciprocal<Port>(sum_of_floats<Port>(row, Extent<Most>{})));
}

// e^(scale * (scores[j] - m)) over their sum, m the largest score: a probability distribution, or zeros if nothing takes
// part. `weights` may be `scores`.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void softmax_row(const float* scores, float* weights, auto count, float scale) noexcept {
  if constexpr (Port::lanes == 1) {
    softmax_of_floats<Port>(scores, weights, count, scale);
  } else {
    constexpr std::size_t most = 4;
    const std::size_t vectors = (count + Port::lanes - 1) / Port::lanes;
    if (vectors <= most)
      with_extent<most>(vectors, [=](auto n) TINYATTN_INLINE_LAMBDA { softmax_in_registers<Port, n>(scores, weights, count, scale); });
    else
      softmax_in_memory<Port>(scores, weights, count, scale);
  }
}

// The same for query i, whose scores end at `end`, over the keys that it sees; the others weigh 0.
template <class Port, class Visible>
constexpr void masked_softmax_row(std::size_t i, float* scores, std::size_t end, float scale, const Visible& visible) noexcept {
  if constexpr (Visible::has_holes)
    for (std::size_t j = 0; j < end; ++j) scores[j] = visible.sees(i, j) ? visible.template score<Port>(i, j, scores[j], scale) : -infinity;
  using Keys = decltype(visible.keys());
  const float factor = Visible::adds ? 1.0f : scale;
  if constexpr (is_few<Port, Keys>)
    softmax_of_few<Port, Keys{}>(scores, end, factor);
  else
    softmax_row<Port>(scores, scores, end, factor);
  if constexpr (Visible::has_holes)
    for (std::size_t j = 0; j < end; ++j)
      if (!visible.sees(i, j)) scores[j] = 0.0f;
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
