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
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// A row and where what becomes of it goes, which may be the same place; `count` is an Extent or a number. A padded row has room
// for whole vectors there, or, on one lane, for as many elements as the longest row.
template <bool Padded, class Count>
struct Row {
  static constexpr bool is_padded = Padded;
  const float* from;
  float* to;
  [[no_unique_address]] Count count;

  constexpr Row in_place() const noexcept { return {to, to, count}; }

  template <class Port>
  constexpr std::size_t vectors() const noexcept {
    return (count + Port::lanes - 1) / Port::lanes;
  }

  // Vector v of `vectors`, the last of which may be a part of one.
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr auto load(std::size_t v, std::size_t vectors) const noexcept {
    const float* const p = from + v * Port::lanes;
    return v + 1 < vectors ? Port::load(p) : Port::load_n(p, count - v * Port::lanes, -infinity);
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void store(std::size_t v, std::size_t vectors, typename Port::vec x) const noexcept {
    float* const p = to + v * Port::lanes;
    if (Padded || v + 1 < vectors)
      Port::store(p, x);
    else
      Port::store_n(p, x, count - v * Port::lanes);
  }
};

// to[j] = apply(from[j]) for every vector of a row.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void transform_row(const auto& row, auto apply) noexcept {
  for_each_vector<Port>(
      row.count, [=](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA { store<Port>(row.to + j, apply(load<Port>(row.from + j, n)), n); });
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

// to[j] = from[j] * (1 / sum of the row); zeros, of the elements' signs, if the sum is 0.
template <class Port>
constexpr void normalize_row(const auto& row) noexcept {
  const auto factor = reciprocal<Port>(sum_of_row<Port>(row.from, row.count));
  transform_row<Port>(row, [&](auto e) TINYATTN_INLINE_LAMBDA { return Port::mul(e, factor); });
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

// Several short rows side by side, in registers: while one waits for a result, another goes on.
template <class Port, std::size_t Rows, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void softmax_in_registers(std::size_t i, const auto& row_at, float scale) noexcept {
  typename Port::vec rows[Rows][Vectors];
  float largest[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    Largest<Port> of_row;
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) of_row.take(rows[r][v] = row_at(i + r).template load<Port>(v, Vectors));
    largest[r] = of_row.total();
  }
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const Exponentials<Port> exponential(largest[r], scale);
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) rows[r][v] = exponential(rows[r][v]);
  }
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    SixteenLanes<Port> lanes;
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) lanes.add(v % lanes.vectors, rows[r][v]);
    const auto factor = reciprocal<Port>(lanes.total());
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row_at(i + r).template store<Port>(v, Vectors, Port::mul(rows[r][v], factor));
  }
}

// Rows of any length in three passes, the sum of each among them.
template <class Port, std::size_t Rows>
constexpr void softmax_in_memory(std::size_t i, std::size_t vectors, const auto& row_at, float scale) noexcept {
  Largest<Port> largest[Rows];
  for (std::size_t v = 0; v < vectors; ++v) {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) largest[r].take(row_at(i + r).template load<Port>(v, vectors));
  }
  float totals[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) totals[r] = largest[r].total();
  SixteenLanes<Port> lanes[Rows];
  const auto exponentiate = [&](std::size_t q, std::size_t v) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto e = Exponentials<Port>(totals[r], scale)(row_at(i + r).template load<Port>(v, vectors));
      row_at(i + r).template store<Port>(v, vectors, e);
      lanes[r].add(q, e);
    }
  };
  constexpr std::size_t turn = SixteenLanes<Port>::vectors;
  for (std::size_t v = 0; v < vectors; v += turn) {
    TINYATTN_UNROLL
    for (std::size_t q = 0; q < turn; ++q)
      if (v + q < vectors) exponentiate(q, v + q);
  }
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto row = row_at(i + r).in_place();
    const auto factor = reciprocal<Port>(lanes[r].total());
    for (std::size_t v = 0; v < vectors; ++v) row.template store<Port>(v, vectors, Port::mul(row.template load<Port>(v, vectors), factor));
  }
}

// A row of floats.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr Exponentials<Port> exponentials_of_floats(const float* row, auto count, float scale) noexcept {
  Largest<Port> largest;
  for_each_group<Port>(count, [&](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA {
    constexpr std::size_t size = n;
    float group[size];
    Port::load_row(row + j, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e) largest.take(group[e]);
  });
  return {largest.total(), scale};
}
template <class Port>
constexpr void softmax_of_floats(const float* from, float* to, std::size_t count, float scale) noexcept {
  if (count == 0) return;
  const auto exponential = exponentials_of_floats<Port>(from, count, scale);
  const float sum = sum_of_each<Port>(count, [=](std::size_t j) TINYATTN_INLINE_LAMBDA { return to[j] = exponential(from[j]); });
  scale_floats<Port>(to, count, reciprocal<Port>(sum));
}
template <class Port, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_floats(const float* from, float* to, Extent<Count> count, float scale) noexcept {
  transform_each(from, to, count, exponentials_of_floats<Port>(from, count, scale));
  scale_floats<Port>(to, count, reciprocal<Port>(sum_of_floats<Port>(to, count)));
}

// The same for a few floats, which have room for `Most` of them.
template <class Port, std::size_t Most>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_few(const auto& row, float scale) noexcept {
  if (row.count == 0) return;
  transform_each(row.from, row.to, row.count, exponentials_of_floats<Port>(row.from, row.count, scale));
  for (std::size_t j = row.count; j < Most; ++j) row.to[j] = 0.0f;
  scale_floats<Port>(row.to, Extent<Most>{}, reciprocal<Port>(sum_of_floats<Port>(row.to, Extent<Most>{})));
}

// Rows that have as many vectors each, at most MostVectors: side by side as far as registers go.
template <class Port, std::size_t Rows, std::size_t MostVectors>
TINYATTN_ALWAYS_INLINE constexpr void softmax_side_by_side(std::size_t first, std::size_t vectors, const auto& row_at,
                                                           float scale) noexcept {
  const auto in_registers = [&](auto n) TINYATTN_INLINE_LAMBDA { softmax_in_registers<Port, Rows, n>(first, row_at, scale); };
  const auto by_two = [&](auto n) TINYATTN_INLINE_LAMBDA {
    for (std::size_t r = 0; r < Rows; r += 2) softmax_in_registers<Port, 2, n + 4>(first + r, row_at, scale);
  };
  if (MostVectors <= 4 || vectors <= 4)
    with_extent<smaller(MostVectors, 4)>(vectors, in_registers);
  else if constexpr (Rows % 2 == 0 && MostVectors > 4) {
    if (vectors <= 8)
      with_extent<smaller(MostVectors, 8) - 4>(vectors - 4, by_two);
    else
      for (std::size_t r = 0; r < Rows; r += 2) softmax_in_memory<Port, 2>(first + r, vectors, row_at, scale);
  } else {
    for (std::size_t r = 0; r < Rows; ++r) softmax_in_memory<Port, 1>(first + r, vectors, row_at, scale);
  }
}

// e^(scale * (scores[j] - m)) over their sum, m the largest score, row by row: a probability distribution, or zeros if
// nothing takes part. row_at(i) is a Row of at most `most` elements; none is shorter than the one before.
template <class Port, class Most>
constexpr void softmax_rows(auto rows, Most, const auto& row_at, float scale) noexcept {
  if constexpr (Port::lanes == 1) {
    for (std::size_t i = 0; i < rows; ++i)
      if constexpr (is_few<Port, Most> && decltype(row_at(i))::is_padded)
        softmax_of_few<Port, Most{}>(row_at(i), scale);
      else
        softmax_of_floats<Port>(row_at(i).from, row_at(i).to, row_at(i).count, scale);
  } else {
    constexpr std::size_t most_vectors = std::is_same_v<Most, std::size_t> ? 16 : padded<Port>(Most{}) / Port::lanes;
    constexpr Extent<most_vectors == 1 ? 6 : 4> several;
    const auto vectors = [&](std::size_t i) TINYATTN_INLINE_LAMBDA { return row_at(i).template vectors<Port>(); };
    std::size_t i = 0;
    for (; i + several <= rows; i += several)
      if (vectors(i) == vectors(i + several - 1))
        softmax_side_by_side<Port, several, most_vectors>(i, vectors(i), row_at, scale);
      else
        for (std::size_t r = 0; r < several; ++r) softmax_in_memory<Port, 1>(i + r, vectors(i + r), row_at, scale);
    for (; i < rows; ++i) softmax_in_memory<Port, 1>(i, vectors(i), row_at, scale);
  }
}

// The same for the scores of some queries over the keys that they see; what they do not see weighs 0. A row ends at its query's
// visible.end.
template <class Port>
constexpr void masked_softmax(auto rows, const auto& scores, float scale, const auto& visible) noexcept {
  using Visible = std::remove_cvref_t<decltype(visible)>;
  if constexpr (Visible::has_holes)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < visible.end(i, 1); ++j) {
        float& score = *scores.at(i, j);
        score = visible.sees(i, j) ? visible.template score<Port>(i, j, score, scale) : -infinity;
      }
  const auto row_at = [&](std::size_t i) TINYATTN_INLINE_LAMBDA {
    return Row<true, std::size_t>{scores.at(i, 0), scores.at(i, 0), visible.end(i, 1)};
  };
  softmax_rows<Port>(rows, visible.keys(), row_at, Visible::adds ? 1.0f : scale);
  if constexpr (Visible::has_holes)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < visible.end(i, 1); ++j)
        if (!visible.sees(i, j)) *scores.at(i, j) = 0.0f;
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
