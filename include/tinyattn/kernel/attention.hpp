// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention of a block of query rows: scores, softmax, context. Nothing of size
// tokens x tokens exists; the height of the block cannot change a bit.
#pragma once

#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/softmax.hpp"
#include "tinyattn/kernel/visible.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// What becomes of the weights of query i, row[0] to row[end - 1]; those from `end` on are 0. from(matrix, first)
// speaks of the block that starts at query `first` of a matrix of weights, one per head and item.

// Nothing: they are multiplied with the values, no more.
struct IgnoreWeights {
  constexpr IgnoreWeights from(std::size_t, std::size_t = 0) const noexcept { return {}; }
  constexpr void operator()(std::size_t, const float*, std::size_t) const noexcept {}
};

// They are copied to a matrix [Tokens, SourceTokens].
template <std::size_t Tokens, std::size_t SourceTokens>
struct CopyWeights {
  float* out;

  constexpr CopyWeights from(std::size_t matrix, std::size_t first = 0) const noexcept {
    return {out + (matrix * Tokens + first) * SourceTokens};
  }
  constexpr void operator()(std::size_t i, const float* row, std::size_t end) const noexcept {
    for (std::size_t j = 0; j < SourceTokens; ++j) out[i * SourceTokens + j] = j < end ? row[j] : 0.0f;
  }
};

constexpr void fill_zeros(auto rows, auto cols, const auto& out) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) *out.at(i, j) = 0.0f;
}

// Continues the chains of context, which end at the keys that every query of the block sees, over those that some see.
template <class Port>
constexpr void add_rest(auto rows, auto value_dim, const auto& weights, const auto& values, const auto& context,
                        const auto& visible) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = visible.common(0, rows); j < visible.end(i, 1); ++j) {
      if (!visible.sees(i, j)) continue;
      const auto weight = Port::broadcast(*weights.at(i, j));
      for_each_vector<Port>(value_dim, [&](std::size_t column, auto n) {
        float* const sum = context.at(i, column);
        store<Port>(sum, Port::fma(weight, load<Port>(values.at(j, column), n), load<Port>(sum, n)), n);
      });
    }
}

// How many scores of a row are computed, of which those behind `end` are never looked at. Keys in rows of whole vectors
// are taken so; and where one product serves all shapes, a whole tile of them at least.
template <class Port, class Source>
constexpr auto score_columns(auto end, Source, const auto&...) noexcept {
  constexpr std::size_t width = Port::tile_vectors * Port::lanes;
  if constexpr (Port::shares_code && is_at_least<width, Source> && std::is_same_v<decltype(end), std::size_t>)
    return AtLeast<width>{end < width ? width : end};
  else
    return end;
}
template <class Port, class Source, class Stride>
constexpr auto score_columns(std::size_t end, Source source, RowMajor<float, Stride>) noexcept {
  using Narrow = narrowed<narrowed<Port, Stride>, Source>;
  if constexpr (Port::shares_code && is_few<Port, Source>)
    return source;
  else if constexpr (Port::shares_code)
    return score_columns<Port>(end, source);
  else if constexpr (padded<Narrow>(Source{}) == Narrow::lanes)
    return Extent<Narrow::lanes>{};
  else
    return padded<Narrow>(end);
}

// softmax(scale * queries . keys) . values for `rows` queries of one head (Vaswani et al., "Attention Is All
// You Need", 2017, equation 1).
//
//   queries  [rows, key_dim]
//   keys     [key_dim, source tokens]      transposed
//   values   [source tokens, value_dim]
//   scores   [rows, source tokens]         scratch, its rows padded; holds the weights when `take_weights` sees them
//   context  [rows, value_dim]             overwritten; may be `queries`
//   take_weights                           is shown each row of weights; it may drop some
template <class Port>
constexpr void attend(auto rows, auto key_dim, auto value_dim, const auto& queries, const auto& keys, const auto& values,
                      const auto& scores, const auto& context, float scale, const auto& visible, const auto& take_weights) noexcept {
  matmul<Port>(Product{rows, key_dim, score_columns<Port>(visible.end(0, rows), visible.keys(), keys), queries, keys, Zero{}, scores});
  masked_softmax<narrowed<narrowed<Port, decltype(scores.stride)>, decltype(visible.keys())>>(rows, scores, scale, visible);
  for (std::size_t i = 0; i < rows; ++i) take_weights(i, scores.at(i, 0), visible.end(i, 1));
  using Visible = std::remove_cvref_t<decltype(visible)>;
  if constexpr (Port::shares_code && !(Port::lanes == 1 && is_tiny<decltype(rows), Visible, decltype(value_dim)>)) {
    if (const std::size_t common = visible.common(0, rows); common != 0)
      matmul<Port>(Product{rows, AtLeast<1>{common}, value_dim, scores, values, Zero{}, context});
    else
      fill_zeros(rows, value_dim, context);
    add_rest<Port>(rows, value_dim, scores, values, context, visible);
  } else {
    matmul<Port>(Product{rows, visible, value_dim, scores, values, Zero{}, context});
  }
}

// Calls step(first, rows) for one block of rows after the other. Of a length that is known to the compiler, the
// height of each block is too.
template <std::size_t BlockRows, class Tokens>
constexpr void for_each_block(Tokens tokens, auto step) noexcept {
  std::size_t first = 0;
  if constexpr (std::is_same_v<Tokens, std::size_t>) {
    for (; first < tokens; first += BlockRows) step(first, smaller(BlockRows, tokens - first));
  } else {
    for (; first + BlockRows <= tokens; first += BlockRows) step(first, Extent<BlockRows>{});
    constexpr Extent<Tokens{} % BlockRows> rest;
    if constexpr (rest != 0) step(first, rest);
  }
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
