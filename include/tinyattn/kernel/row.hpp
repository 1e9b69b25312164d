// SPDX-License-Identifier: MIT
//
// A row of floats, what becomes of each, and the sum behind a softmax: sixteen lanes, whatever the vector.
#pragma once

#include "tinyattn/kernel/one_lane.hpp"
#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>
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

  // How many vectors it fills, the last of them perhaps in part: a number or, as the count is, an Extent.
  template <class Port>
  constexpr auto vectors() const noexcept {
    if constexpr (std::is_same_v<Count, std::size_t>)
      return padded<Port>(count) / Port::lanes;
    else
      return Extent<padded<Port>(Count{}) / Port::lanes>{};
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

// The same row, of which the type says no more of a count than that it is one or two vectors, or whole ones.
template <class Port, bool Padded>
constexpr Row<Padded, std::size_t> of_any_count(const Row<Padded, std::size_t>& row) noexcept {
  return row;
}
template <class Port, bool Padded, std::size_t Count>
constexpr auto of_any_count(const Row<Padded, Extent<Count>>& row) noexcept {
  using Many = std::conditional_t<Count % Port::lanes == 0, MultipleOf<Port::lanes>, std::size_t>;
  if constexpr (Count <= 2 * Port::lanes)
    return row;
  else
    return Row<Padded, Many>{row.from, row.to, {Count}};
}

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
    fold_vectors();
    return Port::first(fold<Port>(sums[0], [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return Port::add(a, b); }));
  }

 private:
  template <std::size_t Half = vectors / 2>
  TINYATTN_ALWAYS_INLINE constexpr void fold_vectors() noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Half; ++v) add(v, sums[v + Half]);
    if constexpr (Half > 1) fold_vectors<Half / 2>();
  }
};

// The sum of what term(j, n) gives for the vectors of a row: element j goes into lane j % 16. Behind the last element a term is +0.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr float sum_of_terms(auto count, auto term) noexcept {
  SixteenLanes<Port> lanes;
  std::size_t j = 0;
  for (; j + 16 <= count; j += 16) {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < lanes.vectors; ++v) lanes.add(v, term(j + v * Port::lanes, Extent<Port::lanes>{}));
  }
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < lanes.vectors; ++v, j += Port::lanes) {
    if (j >= count) break;
    lanes.add(v, term(j, in_vector<Port>(count, j)));
  }
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
  return everywhere<Port>(sum == 0.0f ? 0.0f : 1.0f / sum);
}

// to[j] = from[j] * (1 / sum of the row); zeros, of the elements' signs, if the sum is 0.
template <class Port>
constexpr void normalize_row(const auto& row) noexcept {
  const auto factor = reciprocal<Port>(sum_of_row<Port>(row.from, row.count));
  transform_row<Port>(row, [&](auto e) TINYATTN_INLINE_LAMBDA { return Port::mul(e, factor); });
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
