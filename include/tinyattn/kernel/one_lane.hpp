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

// to[j] += from[j]; count > 0.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void add_floats(const float* from, float* to, std::size_t count) noexcept {
  do {
    *to = Port::add(*to, *from++);
    ++to;
  } while (--count != 0);
}

// The sum in sixteen lanes: element j goes into lane j % 16, and lane q takes lane q + 8, then q + 4, q + 2 and q + 1. Fewer
// than sixteen elements leave lanes out. A sum of zeros may have any sign. count > 0.
template <class Port>
constexpr float sum_of_floats(const float* row, std::size_t count) noexcept {
  float lanes[16];
  const std::size_t first = smaller(count, 16);
  transform_each(row, lanes, first, [](float x) TINYATTN_INLINE_LAMBDA { return x; });
  for (std::size_t j = 16; j < count; j += 16) add_floats<Port>(row + j, lanes, smaller(16, count - j));
  for (std::size_t half = 8; half > 0; half /= 2)
    if (half < first) add_floats<Port>(lanes + half, lanes, smaller(half, first - half));
  return lanes[0];
}

template <class Port, std::size_t Half, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr void fold_lanes(float (&lanes)[Count]) noexcept {
  if constexpr (Half > 0) {
    constexpr std::size_t end = smaller(2 * Half, Count);
    TINYATTN_UNROLL
    for (std::size_t q = Half; q < end; ++q) lanes[q - Half] = Port::add(lanes[q - Half], lanes[q]);
    fold_lanes<Port, Half / 2>(lanes);
  }
}
template <class Port, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr float sum_of_floats(const float* row, Extent<Count>) noexcept {
  float lanes[smaller(Count, 16)];
  Port::load_row(row, lanes);
  std::size_t j = 16;
  for (; j + 16 <= Count; j += 16) {
    TINYATTN_UNROLL
    for (std::size_t q = 0; q < 16; ++q) lanes[q] = Port::add(lanes[q], row[j + q]);
  }
  if constexpr (Count > 16 && Count % 16 != 0) {
    TINYATTN_UNROLL
    for (std::size_t q = 0; q < Count % 16; ++q) lanes[q] = Port::add(lanes[q], row[j + q]);
  }
  fold_lanes<Port, 8>(lanes);
  return lanes[0];
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
