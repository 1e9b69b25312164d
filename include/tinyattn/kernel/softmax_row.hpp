// SPDX-License-Identifier: MIT
//
// Softmax of a row, or of several side by side: every one is a probability distribution; one in
// which nothing takes part is zero.
#pragma once

#include "tinyattn/kernel/row.hpp"
#include "tinyattn/kernel/tile.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>
#include <limits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// Where the search for the largest score starts: a score of -infinity does not take part, and is
// still -infinity when this is subtracted. With a NaN in the row the largest may be any element,
// and no result depends on which.
inline constexpr float least = std::numeric_limits<float>::lowest();

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr float largest_of(typename Port::vec v) noexcept {
  return fold<Port>(v, [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return Port::max(a, b); });
}

// e^(scale * (score - largest)). What is below e^-69 counts as 0, so that no subnormal arises; the
// comparison lets a NaN through.
template <class Port>
struct Exponentials {
  typename Port::factor shift;
  typename Port::factor scale;

  TINYATTN_ALWAYS_INLINE constexpr Exponentials(float largest, float scale_of_scores) noexcept
      : shift(Port::factor_of(-largest)), scale(Port::factor_of(scale_of_scores)) {}

  TINYATTN_ALWAYS_INLINE constexpr auto operator()(typename Port::vec score) const noexcept {
    const auto t = Port::mul(Port::add(score, shift), scale);
    return exp_of_nonpositive<Port>(
        Port::select_less(t, Port::splat(-69.0f), Port::splat(exp_is_zero), t));
  }
};

// `Rows` rows of one length side by side: while one waits for a result, another goes on. Three
// passes over memory: the largest; exponentials and their sum; the multiplication by 1 / sum.
template <class Port, std::size_t Rows, bool IsWhole>
TINYATTN_ALWAYS_INLINE constexpr void softmax_in_memory(Input from, Output to, std::size_t count,
                                                        float scale) noexcept {
  typename Port::vec largest[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) largest[r] = Port::splat(least);
  for_each_vector<Port, IsWhole>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r)
      largest[r] = Port::max(largest[r], at.load(from.at(r, 0), -infinity));
  });
  float largest_of_row[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) largest_of_row[r] = largest_of<Port>(largest[r]);
  LaneSums<Port> lanes[Rows];
  for_each_summand<Port, IsWhole>(count, [&](auto at, std::size_t q) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto e =
          Exponentials<Port>(largest_of_row[r], scale)(at.load(from.at(r, 0), -infinity));
      at.store(to.at(r, 0), e);
      lanes[r].add(q, e);
    }
  });
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto share = reciprocal<Port>(lanes[r].total());
    transform_row<Port, IsWhole>(to.at(r, 0), to.at(r, 0), count, 0.0f,
                                 [&](auto e)
                                     TINYATTN_INLINE_LAMBDA { return Port::mul(e, share); });
  }
}

// Short rows of `Vectors` vectors, in registers: row r ends at ends[r], in its last vector. A row
// that IsPadded has room for whole ones.
template <class Port, std::size_t Rows, std::size_t Vectors, bool IsPadded>
TINYATTN_ALWAYS_INLINE constexpr void softmax_in_registers(Input from, Output to,
                                                           const std::size_t (&ends)[Rows],
                                                           float scale) noexcept {
  constexpr std::size_t before = (Vectors - 1) * Port::lanes;
  typename Port::vec rows[Rows][Vectors];
  float largest_of_row[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    auto largest = Port::splat(least);
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) {
      const float* const p = from.at(r, v * Port::lanes);
      rows[r][v] = IsPadded || v + 1 < Vectors || ends[r] == before + Port::lanes
                       ? Port::load(p)
                       : Port::load_n(p, ends[r] - before, -infinity);
      largest = Port::max(largest, rows[r][v]);
    }
    largest_of_row[r] = largest_of<Port>(largest);
  }
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const Exponentials<Port> exponential(largest_of_row[r], scale);
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) rows[r][v] = exponential(rows[r][v]);
  }
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    LaneSums<Port> lanes;
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) lanes.add(v % lanes.vectors, rows[r][v]);
    const auto share = reciprocal<Port>(lanes.total());
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v)
      if (const auto weights = Port::mul(rows[r][v], share);
          IsPadded || v + 1 < Vectors || ends[r] == before + Port::lanes)
        Port::store(to.at(r, v * Port::lanes), weights);
      else
        Port::store_n(to.at(r, v * Port::lanes), weights, ends[r] - before);
  }
}

// A row of `count` floats on a port of one lane, at most `Most`: only the exponentials are a loop;
// several floats move at once. What lies behind `count` becomes 0.
template <class Port, std::size_t Most>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_floats(const float* from, float* to,
                                                        std::size_t count, float scale) noexcept {
  float largest = least;
  for_each_group<Port>(count, [&]<std::size_t size>(std::size_t j) TINYATTN_INLINE_LAMBDA {
    float group[size];
    Port::load_row(from + j, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e) largest = Port::max(largest, group[e]);
  });
  for (std::size_t j = 0; j < count; ++j) to[j] = Exponentials<Port>(largest, scale)(from[j]);
  for (std::size_t j = count; j < Most; ++j) to[j] = 0.0f;
  float sums[smaller(Most, 16)];
  TINYATTN_UNROLL
  for (std::size_t j = 0; j < Most; ++j)
    sums[j % 16] = j < 16 ? to[j] : Port::add(sums[j % 16], to[j]);
  const float share = reciprocal<Port>(total_of_lanes<Port>(sums));
  for_each_group<Port>(Most, [&]<std::size_t size>(std::size_t j) TINYATTN_INLINE_LAMBDA {
    float group[size];
    Port::load_row(to + j, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e) group[e] = Port::mul(group[e], share);
    Port::store_row(group, to + j);
  });
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
