// SPDX-License-Identifier: MIT
//
// Rows on a port of one lane, which has no use for a loop over vectors: several elements are moved at a time
// where little is done with each, and the sixteen lanes of a sum are an array, or registers where the length is known.
#pragma once

#include "tinyattn/kernel/operand.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// to[j] = apply(from[j]) for one element after the other; count > 0.
TINYATTN_ALWAYS_INLINE constexpr void transform_each(const float* from, float* to, std::size_t count, auto apply) noexcept {
  do *to++ = apply(*from++);
  while (--count != 0);
}

// Calls step(j, n) for groups of n elements: as many as a row of a tile has, then one by one. Code for any number of elements
// is small, and takes all of them one by one.
template <class Port, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr void for_each_group(Extent<Count>, auto step) noexcept {
  constexpr Extent<Port::tile_vectors> group;
  std::size_t j = 0;
  for (; j + group <= Count; j += group) step(j, group);
  if constexpr (Count % group != 0) step(j, Extent<Count % group>{});
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void for_each_group(std::size_t count, auto step) noexcept {
  std::size_t j = 0;
  do step(j, Extent<1>{});
  while (++j != count);
}

// So many elements at most as are moved at a time.
template <class Port, class Count>
inline constexpr bool is_few = Port::lanes == 1 && is_at_most<Port::tile_vectors, Count>;

// row[j] *= factor.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void scale_floats(float* row, auto count, float factor) noexcept {
  for_each_group<Port>(count, [=](std::size_t j, auto n) TINYATTN_INLINE_LAMBDA {
    constexpr std::size_t size = n;
    float group[size];
    Port::load_row(row + j, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e) group[e] = Port::mul(group[e], factor);
    Port::store_row(group, row + j);
  });
}

// What sixteen lanes add up to: lane q takes lane q + 8, then q + 4, q + 2 and q + 1. Fewer of them leave lanes out.
template <class Port, std::size_t Half = 8>
TINYATTN_ALWAYS_INLINE constexpr float total_of_lanes(auto& lanes, auto count) noexcept {
  if constexpr (Half == 0) {
    return lanes[0];
  } else {
    constexpr std::size_t end = smaller(2 * Half, count);
    TINYATTN_UNROLL
    for (std::size_t q = Half; q < end; ++q) lanes[q - Half] = Port::add(lanes[q - Half], lanes[q]);
    return total_of_lanes<Port, Half / 2>(lanes, count);
  }
}

// row[e] = from[e], as many at a time as the port loads in one instruction.
template <class Port, std::size_t First = 0, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr void load_floats(const float* from, float (&row)[Count]) noexcept {
  constexpr std::size_t size = smaller(Port::tile_vectors, Count - First);
  float group[size];
  if constexpr (requires { Port::template load_tile_row<First / size>(from, group); })
    Port::template load_tile_row<First / size>(from + First, group);
  else
    Port::load_row(from + First, group);
  TINYATTN_UNROLL
  for (std::size_t e = 0; e < size; ++e) row[First + e] = group[e];
  if constexpr (First + size < Count) load_floats<Port, First + size>(from, row);
}

// The sixteen lanes of a row sum in memory, in groups that the port loads and stores at once.
template <class Port>
struct LanesInMemory {
  static constexpr std::size_t group = Port::tile_vectors;
  static constexpr std::size_t groups = (16 + group - 1) / group;
  float lanes[groups * group];

  TINYATTN_ALWAYS_INLINE constexpr LanesInMemory() noexcept {
    float zero[group];
    Port::load_row(zeros<group>, zero);
    TINYATTN_UNROLL
    for (std::size_t g = 0; g < groups; ++g) Port::store_row(zero, lanes + g * group);
  }

  TINYATTN_ALWAYS_INLINE constexpr float total() const noexcept {
    float all[groups * group];
    load_floats<Port>(lanes, all);
    return total_of_lanes<Port>(all, Extent<16>{});
  }
};

// Calls term(j) for every element of a row, and returns the sum of what it gives: element j goes into lane j % 16. count > 0.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr float sum_of_each(std::size_t count, auto term) noexcept {
  LanesInMemory<Port> sum;
  std::size_t j = 0;
  do {
    float* lane = sum.lanes;
    const std::size_t end = smaller(count, j + 16);
    do {
      *lane = Port::add(*lane, term(j));
      ++lane;
    } while (++j != end);
  } while (j != count);
  return sum.total();
}
template <class Port>
constexpr float sum_of_floats(const float* row, std::size_t count) noexcept {
  return sum_of_each<Port>(count, [=](std::size_t j) TINYATTN_INLINE_LAMBDA { return row[j]; });
}

// lanes[q] += row[q] for the first `Count` lanes.
template <class Port, std::size_t Count, std::size_t First = 0, std::size_t Lanes>
TINYATTN_ALWAYS_INLINE constexpr void add_to_lanes(const float* row, float (&lanes)[Lanes]) noexcept {
  if constexpr (First < Count) {
    constexpr std::size_t size = smaller(Port::tile_vectors, Count - First);
    float group[size];
    Port::load_row(row + First, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e) lanes[First + e] = Port::add(lanes[First + e], group[e]);
    add_to_lanes<Port, Count, First + size>(row, lanes);
  }
}
template <class Port, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr float sum_of_floats(const float* row, Extent<Count>) noexcept {
  constexpr std::size_t first = smaller(Count, 16);
  float lanes[first];
  load_floats<Port>(row, lanes);
  std::size_t j = first;
  for (; j + 16 <= Count; j += 16) add_to_lanes<Port, first>(row + j, lanes);
  if constexpr (Count > 16) add_to_lanes<Port, Count % 16>(row + j, lanes);
  return total_of_lanes<Port>(lanes, Extent<first>{});
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
