// SPDX-License-Identifier: MIT
//
// Softmax, row by row. Every row is a probability distribution; a row in which nothing takes part is zero.
#pragma once

#include "tinyattn/kernel/one_lane.hpp"
#include "tinyattn/kernel/parts.hpp"
#include "tinyattn/kernel/row.hpp"
#include "tinyattn/kernel/visible.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>
#include <limits>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

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
  decltype(everywhere<Port>(0.0f)) shift;
  decltype(everywhere<Port>(0.0f)) scale;

  TINYATTN_ALWAYS_INLINE constexpr Exponentials(float largest, float factor) noexcept
      : shift(everywhere<Port>(-largest)), scale(everywhere<Port>(factor)) {}

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

// A row in vectors, pass after pass: one copy in flash for all lengths but of one or two vectors. A row with room for whole vectors is
// filled with what does not take part.
template <class Port>
[[gnu::noinline]] constexpr void softmax_of_row(auto row, float scale) noexcept {
  Largest<Port> largest;
  for_each_vector<Port>(row.count,
                        [&](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA { largest.take(load<Port>(row.from + j, n, -infinity)); });
  transform_row<Port>(row, Exponentials<Port>(largest.total(), scale));
  normalize_row<Port>(row.in_place());
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_padded_row(float* row, std::size_t count, float scale) noexcept {
  const MultipleOf<Port::lanes> whole{padded<Port>(count)};
  for (std::size_t j = count; j < whole; ++j) row[j] = -infinity;
  softmax_of_row<Port>(Row<true, MultipleOf<Port::lanes>>{row, row, whole}, scale);
}

// Row i alone, where flash is dear.
template <class Port, class Most>
TINYATTN_ALWAYS_INLINE constexpr void softmax_row(std::size_t i, Most, const auto& row_at, float scale) noexcept {
  if constexpr (Port::lanes > 1 && decltype(row_at(i))::is_padded)
    softmax_of_padded_row<Port>(row_at(i).to, row_at(i).count, scale);
  else if constexpr (Port::lanes > 1)
    softmax_of_row<Port>(of_any_count<Port>(row_at(i)), scale);
  else if constexpr (is_few<Port, Most> && decltype(row_at(i))::is_padded)
    softmax_of_few<Port, Most{}>(row_at(i), scale);
  else
    softmax_of_floats<Port>(row_at(i).from, row_at(i).to, row_at(i).count, scale);
}

// Rows that have as many vectors each, side by side as far as registers go. `vectors` is a number, at most MostVectors, or an Extent.
template <class Port, std::size_t Rows, std::size_t MostVectors>
TINYATTN_ALWAYS_INLINE constexpr void softmax_side_by_side(std::size_t first, auto vectors, const auto& row_at, float scale) noexcept {
  constexpr std::size_t most = smaller(8, MostVectors);
  constexpr bool is_long = !std::is_same_v<decltype(vectors), std::size_t> && MostVectors > most;
  if (is_long || vectors > most)
    softmax_in_memory<Port, Rows>(first, vectors, row_at, scale);
  else if constexpr (!is_long)
    with_extent<most>(vectors, [&](auto n) TINYATTN_INLINE_LAMBDA {
      constexpr std::size_t together = Rows * n <= 16 ? Rows : Rows % 2 == 0 ? 2 : 1;
      for (std::size_t r = 0; r < Rows; r += together) softmax_in_registers<Port, together, n>(first + r, row_at, scale);
    });
}

// All rows: those that have as many vectors side by side, as far as this goes.
template <class Port, std::size_t MostVectors>
constexpr void softmax_of_vectors(auto rows, const auto& row_at, float scale) noexcept {
  constexpr Extent<MostVectors == 1 ? 6 : 4> several;
  const auto vectors = [&](std::size_t i) TINYATTN_INLINE_LAMBDA { return row_at(i).template vectors<Port>(); };
  std::size_t i = 0;
  for (; i + several <= rows; i += several)
    if (const auto n = vectors(i); n == vectors(i + several - 1))
      softmax_side_by_side<Port, several, MostVectors>(i, n, row_at, scale);
    else
      for (std::size_t r = 0; r < several; ++r) softmax_in_memory<Port, 1>(i + r, vectors(i + r), row_at, scale);
  for (std::size_t rest = rows % several; rest != 0; --rest, ++i) softmax_in_memory<Port, 1>(i, vectors(i), row_at, scale);
}

// e^(scale * (scores[j] - m)) over their sum, m the largest score, row by row: a probability distribution, or zeros if
// nothing takes part. row_at(i) is a Row of at most `most` elements; none is shorter than the one before.
template <class Port, class Most>
constexpr void softmax_rows(auto rows, Most most, const auto& row_at, float scale) noexcept {
  if constexpr (Port::lanes > 1 && !Port::shares_code) {
    constexpr bool is_known = !std::is_same_v<Most, std::size_t>;
    softmax_of_vectors<Port, is_known ? padded<Port>(Most{}) / Port::lanes : ~std::size_t{0}>(rows, row_at, scale);
  } else {
    for (std::size_t i = 0; i < rows; ++i) softmax_row<Port>(i, most, row_at, scale);
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
