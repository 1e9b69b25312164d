// SPDX-License-Identifier: MIT
//
// The vectors of a row of floats, functions of each element, and the sum of a row in sixteen lanes,
// for vectors of any width.
#pragma once

#include "tinyattn/kernel/size.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Reduces a vector to one float: lane q is combined with lane q + lanes / 2, then q + lanes / 4,
// and so on to q + 1.
template <class Port, std::size_t Half = Port::lanes / 2>
TINYATTN_KERNEL float reduce(typename Port::vec v, const auto& combine) noexcept {
  if constexpr (Half == 0)
    return Port::first(v);
  else
    return reduce<Port, Half / 2>(combine(v, Port::template butterfly<Half>(v)), combine);
}

// Returns the sum of the sixteen lanes: lane q takes lane q + 8, then q + 4, q + 2 and q + 1. Only
// the first `Used` vectors have lanes that are not empty; empty lanes are left out.
template <class Port, std::size_t Used>
TINYATTN_KERNEL float total_of_lanes(typename Port::vec (&sums)[Used]) noexcept {
  TINYATTN_UNROLL_FOR_SPEED
  for (std::size_t half = 8 / Port::lanes; half > 0; half /= 2) {
    const std::size_t count = half < Used ? minimum(half, Used - half) : 0;
    TINYATTN_UNROLL_FOR_SPEED
    for (std::size_t q = 0; q < count; ++q) sums[q] = Port::add(sums[q], sums[q + half]);
  }
  return reduce<Port>(sums[0],
                      [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return Port::add(a, b); });
}

// The vector of a row that starts at element j, or the part of it that the row fills.
template <class Port, bool IsWhole>
struct RowVector {
  static constexpr bool is_whole = IsWhole;
  std::size_t j;
  std::size_t count = Port::lanes;

  TINYATTN_KERNEL auto load(const float* row, float fill) const noexcept {
    return IsWhole ? Port::load(row + j) : Port::load_n(row + j, count, fill);
  }
  TINYATTN_KERNEL void store(float* row, typename Port::vec v) const noexcept {
    IsWhole ? Port::store(row + j, v) : Port::store_n(row + j, v, count);
  }
};

// Calls step(vector) for every vector of a row of `count` elements. A row that IsWhole has whole
// vectors only.
template <class Port, bool IsWhole = false>
TINYATTN_KERNEL void for_each_vector(std::size_t count, const auto& step) noexcept {
  std::size_t j = 0;
  for (std::size_t left = count / Port::lanes; left != 0; --left, j += Port::lanes)
    step(RowVector<Port, true>{j});
  if constexpr (Port::lanes > 1 && !IsWhole)
    if (j != count) step(RowVector<Port, false>{j, count - j});
}

// Calls step(vector, q) for every vector of a row, where q is the number of the vector of the
// sixteen lanes to which it is added: after unrolling, a constant.
template <class Port, bool IsWhole = false>
TINYATTN_KERNEL void for_each_summand(std::size_t count, const auto& step) noexcept {
  std::size_t j = 0;
  for (std::size_t left = count / 16; left != 0; --left, j += 16) {
    TINYATTN_UNROLL
    for (std::size_t q = 0; q < 16 / Port::lanes; ++q)
      step(RowVector<Port, true>{j + q * Port::lanes}, q);
  }
  TINYATTN_UNROLL
  for (std::size_t q = 0; q < 16 / Port::lanes; ++q, j += Port::lanes) {
    if (j + Port::lanes > count) {
      if (!IsWhole && j != count) step(RowVector<Port, false>{j, count - j}, q);
      break;
    }
    step(RowVector<Port, true>{j}, q);
  }
}

// Sums in sixteen lanes, each of one float: each step is sum = add(j, sum). Empty lanes are left
// out.
template <class Port>
TINYATTN_KERNEL float sum_lane_by_lane(std::size_t count, const auto& add) noexcept {
  float sums[16];
  std::size_t lanes = minimum(maximum(count, 1), 16);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    float sum = 0.0f;
    for (std::size_t j = lane; j < count; j += 16) sum = add(j, sum);
    sums[lane] = sum;
  }
  for (std::size_t half = 8; half != 0; half /= 2)
    for (; lanes > half; --lanes)
      sums[lanes - 1 - half] = Port::add(sums[lanes - 1 - half], sums[lanes - 1]);
  return sums[0];
}

// Sums a row in sixteen lanes: each step is sum = add(element, sum).
template <class Port>
TINYATTN_KERNEL float sum_in_lanes(const float* row, std::size_t count, const auto& add) noexcept {
  if constexpr (Port::lanes == 1) {
    return sum_lane_by_lane<Port>(
        count, [&](std::size_t j, float sum) TINYATTN_INLINE_LAMBDA { return add(row[j], sum); });
  } else {
    typename Port::vec sums[16 / Port::lanes] = {};
    for_each_summand<Port>(count, [&](auto at, std::size_t q) TINYATTN_INLINE_LAMBDA {
      sums[q] = add(at.load(row, 0.0f), sums[q]);
    });
    return total_of_lanes<Port>(sums);
  }
}

template <class Port>
concept sums_rows = requires(const float* row) {
  Port::sum_of_row(row, 0);
};

// The sum of a row, and of its squares. A port may have functions of its own.
template <class Port>
TINYATTN_KERNEL float sum_of_row(const float* row, std::size_t count) noexcept {
  if constexpr (sums_rows<Port>)
    return Port::sum_of_row(row, count);
  else
    return sum_in_lanes<Port>(
        row, count, [](auto v, auto sum) TINYATTN_INLINE_LAMBDA { return Port::add(sum, v); });
}
template <class Port>
TINYATTN_KERNEL float sum_of_squares(const float* row, std::size_t count) noexcept {
  if constexpr (requires { Port::sum_of_squares(row, count); })
    return Port::sum_of_squares(row, count);
  else
    return sum_in_lanes<Port>(row, count, [](auto v, auto sum) TINYATTN_INLINE_LAMBDA {
      if constexpr (requires { Port::add_square(v, sum); })
        return Port::add_square(v, sum);
      else
        return Port::fma(v, v, sum);
    });
}

// to[j] = a[j] + b[j].
template <class Port>
TINYATTN_KERNEL void add_rows(const float* a, const float* b, float* to,
                              std::size_t count) noexcept {
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    at.store(to, Port::add(at.load(a, 0.0f), at.load(b, 0.0f)));
  });
}

// to[j] = apply(from[j]) for every vector of a row.
template <class Port>
TINYATTN_KERNEL void transform_row(const float* from, float* to, std::size_t count,
                                   const auto& apply) noexcept {
  for_each_vector<Port>(
      count, [&](auto at) TINYATTN_INLINE_LAMBDA { at.store(to, apply(at.load(from, 0.0f))); });
}

// to[j] = (from[j] - mean[j]) * scale[j].
template <class Port>
constexpr void standardize_row(const float* from, const float* mean, const float* scale, float* to,
                               std::size_t count) noexcept {
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto difference = Port::add(at.load(from, 0.0f), negative<Port>(at.load(mean, 0.0f)));
    at.store(to, Port::mul(difference, at.load(scale, 0.0f)));
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
