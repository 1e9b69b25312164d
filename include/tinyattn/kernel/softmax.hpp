// SPDX-License-Identifier: MIT
//
// Softmax of all rows, and of the scores of some queries through a mask.
#pragma once

#include "tinyattn/kernel/mask.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/softmax_row.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// Whether rows of `Count` elements are compiled for their length: one or two vectors, or up to 32
// floats on a port of one lane.
template <class Port, std::size_t Count>
inline constexpr bool is_short =
    Port::lanes == 1 ? Count <= 32 && compiles_tiny<Port> : Count <= 2 * Port::lanes;

// Rows of a length that is known and short.
template <class Port, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_short_rows(std::size_t rows, Input from, Output to,
                                                            float scale) noexcept {
  if constexpr (Port::lanes == 1) {
    for (std::size_t i = 0; i < rows; ++i)
      softmax_of_floats<Port, Count>(from.at(i, 0), to.at(i, 0), Count, scale);
  } else {
    constexpr std::size_t vectors = padded<Port>(Count) / Port::lanes;
    std::size_t i = 0;
    if constexpr (vectors == 1)
      for (; i + 6 <= rows; i += 6)
        softmax_in_registers<Port, 6, 1, false>(from.from(i, 0), to.from(i, 0),
                                                {Count, Count, Count, Count, Count, Count}, scale);
    for (; i + 4 <= rows; i += 4)
      softmax_in_registers<Port, 4, vectors, false>(from.from(i, 0), to.from(i, 0),
                                                    {Count, Count, Count, Count}, scale);
    for (; i < rows; ++i)
      softmax_in_registers<Port, 1, vectors, false>(from.from(i, 0), to.from(i, 0), {Count}, scale);
  }
}

// One row: one copy in flash for all. Where that is dear, a sum of vectors has a pass of its own,
// or the exponential would be there several times.
template <class Port, bool IsWhole>
[[gnu::noinline]] constexpr void softmax_row(const float* from, float* to, std::size_t count,
                                             float scale) noexcept {
  if constexpr (Port::flash_is_dear && Port::lanes > 1) {
    auto largest = Port::splat(least);
    for_each_vector<Port, IsWhole>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      largest = Port::max(largest, at.load(from, -infinity));
    });
    transform_row<Port, IsWhole>(from, to, count, -infinity,
                                 Exponentials<Port>(largest_of<Port>(largest), scale));
    normalize_row<Port, IsWhole>(to, to, count);
  } else {
    softmax_in_memory<Port, 1, IsWhole>({from, 0}, {to, 0}, count, scale);
  }
}

// Elements from `end` up to `count`, which is whole vectors, do not take part.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void hide_rest(float* row, std::size_t end,
                                                std::size_t count) noexcept {
  const std::size_t part = end % Port::lanes;
  std::size_t j = end - part;
  if (part != 0) {
    Port::store(row + j, Port::load_n(row + j, part, -infinity));
    j += Port::lanes;
  }
  for (; j < count; j += Port::lanes) Port::store(row + j, Port::splat(-infinity));
}

// Four rows, none shorter than the one before: row r ends at ends[r].
template <class Port, bool IsPadded>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_four(Input from, Output to, std::size_t (&ends)[4],
                                                      float scale) noexcept {
  const std::size_t whole = padded<Port>(ends[3]);
  if constexpr (IsPadded) {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < 4; ++r) {
      hide_rest<Port>(to.at(r, 0), ends[r], whole);
      ends[r] = whole;
    }
  }
  if (whole == 2 * Port::lanes)
    return softmax_in_registers<Port, 4, 2, IsPadded>(from, to, ends, scale);
  if (whole == Port::lanes)
    return softmax_in_registers<Port, 4, 1, IsPadded>(from, to, ends, scale);
  softmax_in_memory<Port, 4, IsPadded>(from, to, ends[3], scale);
}

// e^(scale * (from[j] - m)) over their sum, m the largest element, row by row: a probability
// distribution, or zeros if nothing takes part. Row i ends at mask.end(first + i). Rows that are
// Padded have room for whole vectors: what lies behind their ends is overwritten in `to`, and if
// they do not all end with a vector, `to` is `from`. Rows that are not have one length.
template <class Port, bool IsPadded>
[[gnu::noinline]] constexpr void softmax_side_by_side(std::size_t rows, Input from, Output to,
                                                      const Mask& mask, std::size_t first,
                                                      float scale) noexcept {
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    std::size_t ends[]{mask.end(first + i), mask.end(first + i + 1), mask.end(first + i + 2),
                       mask.end(first + i + 3)};
    softmax_of_four<Port, IsPadded>(from.from(i, 0), to.from(i, 0), ends, scale);
  }
  for (std::size_t rest = rows % 4; rest != 0; --rest, ++i) {
    const std::size_t end = mask.end(first + i), whole = padded<Port>(end);
    if constexpr (IsPadded) hide_rest<Port>(to.at(i, 0), end, whole);
    softmax_in_memory<Port, 1, IsPadded>(from.from(i, 0), to.from(i, 0), IsPadded ? whole : end,
                                         scale);
  }
}

template <class Port, bool IsPadded>
TINYATTN_ALWAYS_INLINE constexpr void softmax(std::size_t rows, Input from, Output to,
                                              const Mask& mask, std::size_t first,
                                              float scale) noexcept {
  if constexpr (Port::flash_is_dear) {
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t end = mask.end(first + i), whole = padded<Port>(end);
      if constexpr (IsPadded && Port::lanes > 1) hide_rest<Port>(to.at(i, 0), end, whole);
      softmax_row<Port, IsPadded>(from.at(i, 0), to.at(i, 0), IsPadded ? whole : end, scale);
    }
  } else {
    softmax_side_by_side<Port, IsPadded>(rows, from, to, mask, first, scale);
  }
}

// The same for few queries, whose rows are so short that they are compiled for `Keys` keys.
template <class Port, std::size_t Keys>
TINYATTN_ALWAYS_INLINE constexpr void softmax_of_short_scores(std::size_t rows, Output scores,
                                                              const Mask& mask, std::size_t first,
                                                              float scale) noexcept {
  if constexpr (Port::lanes == 1) {
    for (std::size_t i = 0; i < rows; ++i)
      softmax_of_floats<Port, Keys>(scores.at(i, 0), scores.at(i, 0), mask.end(first + i), scale);
  } else {
    for (std::size_t i = 0; i < rows; ++i)
      hide_rest<Port>(scores.at(i, 0), mask.end(first + i), padded<Port>(Keys));
    softmax_of_short_rows<Port, padded<Port>(Keys)>(rows, scores, scores, scale);
  }
}

// The weights of some queries, in place of their scores, over the keys that they see: `first` is
// the number of the first query, as the mask counts. What a query does not see weighs 0. `Keys` are
// known if they are few.
template <class Port, std::size_t Keys = 0>
TINYATTN_ALWAYS_INLINE constexpr void masked_softmax(std::size_t rows, Output scores,
                                                     const Mask& mask, std::size_t first,
                                                     float scale) noexcept {
  if (mask.has_holes())
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < mask.end(first + i); ++j) {
        float& score = *scores.at(i, j);
        if (mask.hides(first + i, j))
          score = -infinity;
        else if (mask.addends != nullptr)
          score = Port::one_lane::fma(score, scale, mask.addends[(first + i) * mask.stride + j]);
      }
  const float scale_of_rest = mask.addends != nullptr ? 1.0f : scale;
  if constexpr (Keys != 0 && is_short<Port, Keys>)
    softmax_of_short_scores<narrowed<Port, Keys>, Keys>(rows, scores, mask, first, scale_of_rest);
  else
    softmax<Port, true>(rows, scores, scores, mask, first, scale_of_rest);
  if (mask.has_holes())
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < mask.end(first + i); ++j)
        if (mask.hides(first + i, j)) *scores.at(i, j) = 0.0f;
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
