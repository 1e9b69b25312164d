// SPDX-License-Identifier: MIT
//
// Softmax of all rows, and of the scores of some queries through a mask.
#pragma once

#include "tinyattn/kernel/mask.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/softmax_row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Whether rows of `Count` elements are compiled for their length: a few vectors, or up to 32 floats
// on a port of one lane.
template <class Port, std::size_t Count>
inline constexpr bool has_few_vectors = Port::lanes == 1
                                            ? Count <= 32 && specializes_shapes<Port>
                                            : Count <= (Port::shares_code ? 2 : 4) * Port::lanes;

// Computes rows that the compiler knows to have up to `Count` elements: `Together` rows at once,
// then fewer. Row i ends at end_of(i); in vectors, what follows its end must be -infinity.
template <class Port, std::size_t Count, std::size_t Together = Count <= Port::lanes ? 6 : 4>
TINYATTN_KERNEL void softmax_of_short_rows(std::size_t rows, Dense from, Output to,
                                           const auto& end_of, float scale) noexcept {
  if constexpr (Port::lanes == 1) {
    for (std::size_t i = 0; i < rows; ++i)
      softmax_of_floats<Port, Count>(from.at(i, 0), to.at(i, 0), end_of(i), scale);
  } else {
    for (std::size_t left = rows / Together; left != 0; --left) {
      softmax_in_registers<Port, Together, Count>(from, to, scale);
      from = from.from(Together, 0);
      to = to.from(Together, 0);
    }
    if constexpr (Together > 1)
      softmax_of_short_rows<Port, Count, Together == 6 ? 4 : 1>(rows % Together, from, to, end_of,
                                                                scale);
  }
}

// Sets elements `end` to `count`, a multiple of the lanes, to -infinity.
template <class Port>
TINYATTN_KERNEL void mask_tail(float* row, std::size_t end, std::size_t count) noexcept {
  const std::size_t left = end % Port::lanes;
  std::size_t j = end - left;
  if (left != 0) {
    Port::store(row + j, Port::load_n(row + j, left, -infinity));
    j += Port::lanes;
  }
  for (; j < count; j += Port::lanes) Port::store(row + j, Port::splat(-infinity));
}

// If IsPadded, fills each of `Rows` rows from row i on with -infinity, from its own end to that of
// the last row, rounded up to whole vectors; returns the common end. Ends never decrease, so that
// the last row is the longest.
template <class Port, std::size_t Rows, bool IsPadded>
TINYATTN_KERNEL std::size_t pad_rows(Output to, std::size_t i, const auto& end_of) noexcept {
  const std::size_t end = end_of(i + Rows - 1);
  if constexpr (!IsPadded || Port::lanes * Rows == 1) return end;
  const std::size_t whole = padded<Port>(end);
  for (std::size_t r = 0; r < Rows; ++r) mask_tail<Port>(to.at(i + r, 0), end_of(i + r), whole);
  return whole;
}

// Computes e^(scale * (from[j] - m)) divided by the sum of these, row by row, where m is the
// largest element: a probability distribution, or zeros if no element takes part. Row i ends at
// end_of(i). Padded rows have room for whole vectors: elements of `to` after their ends are
// overwritten, and `to` must be `from` unless all rows end with a whole vector. Rows that are not
// padded have one length.
template <class Port, bool IsPadded>
TINYATTN_KERNEL void softmax(std::size_t rows, Dense from, Output to, const auto& end_of,
                             float scale) noexcept {
  std::size_t i = 0;
  if constexpr (Port::interleaves_rows) {
    const auto take = [&]<std::size_t Rows>() TINYATTN_INLINE_LAMBDA {
      softmax_of_rows<Port, Rows, IsPadded>(from.from(i, 0), to.from(i, 0),
                                            pad_rows<Port, Rows, IsPadded>(to, i, end_of), scale);
      i += Rows;
    };
    for (std::size_t left = rows / 4; left != 0; --left) take.template operator()<4>();
    if (rows % 4 >= 2) take.template operator()<2>();
  }
  for (std::size_t left = Port::interleaves_rows ? rows % 2 : rows; left != 0; --left, ++i)
    softmax_of_row<Port, IsPadded>(from.at(i, 0), to.at(i, 0),
                                   pad_rows<Port, 1, IsPadded>(to, i, end_of), scale);
}

// Does the same in place for scores.
template <class Port>
TINYATTN_KERNEL void softmax_of_scores(std::size_t rows, Output scores, const auto& end_of,
                                       float scale) noexcept {
  if constexpr (has_exponentials<Port>)
    for (std::size_t i = 0; i < rows; ++i)
      softmax_of_fours<Port>(scores.at(i, 0), end_of(i), scale);
  else
    softmax<Port, true>(rows, scores, scores, end_of, scale);
}

// Whether a scale is so small that all scores count as equal. The bound is the least normal float,
// since some targets flush numbers below it.
TINYATTN_KERNEL bool is_no_scale(float scale) noexcept { return scale < 0x1p-126f; }

// Writes the scores that such a scale leaves: 0 for each that takes part, -infinity for each that
// does not. As with any scale, a NaN or +infinity makes its row NaN.
template <class Port>
constexpr void level_rows(std::size_t rows, std::size_t cols, Dense from, Output to) noexcept {
  const auto level = [](auto score) TINYATTN_INLINE_LAMBDA {
    const auto flat = Port::select_less(score, Port::splat(infinity), Port::splat(0.0f), score);
    return Port::select_less(score, Port::splat(least), Port::splat(-infinity), flat);
  };
  for (std::size_t i = 0; i < rows; ++i)
    transform_row<Port>(from.at(i, 0), to.at(i, 0), cols, level);
}

// Replaces the scores of `rows` queries by their weights over the unmasked keys. The first of them
// is query `first` of the mask. A masked key before mask.end gets weight 0, or NaN in a row of NaN
// before mask.begin. `Keys` is the number of
// keys if it is a small constant, else 0.
template <class Port, std::size_t Keys = 0>
TINYATTN_KERNEL void masked_softmax(std::size_t rows, Output scores, const auto& mask,
                                    std::size_t first, float scale) noexcept {
  if (mask.has_holes())
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = mask.begin(first + i); j < mask.end(first + i); ++j) {
        float& score = *scores.at(i, j);
        if (mask.masks(first + i, j))
          score = -infinity;
        else if (!is_null(mask.addends))
          score = Port::one_lane::fma(score, scale, mask.addend(first + i, j));
      }
  if (!is_null(mask.addends)) scale = 1.0f;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < mask.begin(first + i); ++j) *scores.at(i, j) = -infinity;
  const auto end_of = [&](std::size_t i) TINYATTN_INLINE_LAMBDA { return mask.end(first + i); };
  if constexpr (Keys != 0 && has_few_vectors<Port, Keys>) {
    using Narrow = narrowed<Port, Keys>;
    constexpr std::size_t whole = padded<Narrow>(Keys);
    if constexpr (Narrow::lanes > 1)
      for (std::size_t i = 0; i < rows; ++i) mask_tail<Narrow>(scores.at(i, 0), end_of(i), whole);
    softmax_of_short_rows<Narrow, whole>(rows, scores, scores, end_of, scale);
  } else {
    softmax_of_scores<Port>(rows, scores, end_of, scale);
  }
  if (mask.has_holes())
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = mask.begin(first + i); j < mask.end(first + i); ++j)
        if (mask.masks(first + i, j)) *scores.at(i, j) = 0.0f;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
