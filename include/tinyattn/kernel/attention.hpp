// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention of a block of query rows: scores, softmax, context. Nothing of size
// tokens x tokens exists; the height of the block cannot change a bit.
#pragma once

#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/softmax.hpp"
#include "tinyattn/kernel/visible.hpp"

#include <cstddef>

namespace tinyattn::inline TINYATTN_PORT::kernel {

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

// softmax(scale * queries . keys) . values for `rows` queries of one head (Vaswani et al., "Attention Is All
// You Need", 2017, equation 1).
//
//   queries  [rows, key_dim]
//   keys     [key_dim, source tokens]      transposed
//   values   [source tokens, value_dim]
//   scores   [rows, source tokens]         scratch; holds the weights when `take_weights` sees them
//   context  [rows, value_dim]             overwritten; may be `queries`
//   take_weights                           is shown each row of weights; it may drop some
template <class Port>
constexpr void attend(std::size_t rows, auto key_dim, auto value_dim, const auto& queries, const auto& keys, const auto& values,
                      const auto& scores, const auto& context, float scale, const auto& visible, const auto& take_weights) noexcept {
  const auto end = visible.end(0, rows);
  matmul<Port>(rows, end, queries, keys, Zero{}, scores, SeesAll<decltype(key_dim)>{key_dim});
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t row_end = visible.end(i, 1);
    masked_softmax_row<Port>(i, scores.at(i, 0), row_end, scale, visible);
    take_weights(i, scores.at(i, 0), row_end);
  }
  matmul<Port>(rows, value_dim, scores, values, Zero{}, context, visible);
}

// Calls attend_block(first, rows) for one block of queries after the other.
constexpr void for_each_block(std::size_t tokens, std::size_t block_rows, auto attend_block) noexcept {
  for (std::size_t first = 0; first < tokens; first += block_rows) attend_block(first, smaller(block_rows, tokens - first));
}

}  // namespace tinyattn::inline TINYATTN_PORT::kernel
