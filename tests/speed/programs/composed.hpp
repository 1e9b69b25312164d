// SPDX-License-Identifier: MIT
//
// Attention and softmax for libraries that only multiply, as a careful user composes them: blocks of query rows, so
// that keys which no row of a block may see cost nothing and scores stay in the cache, and a vectorized softmax.
#pragma once

#include "operations.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace tinyattn::bench {

// A matrix in memory: rows lie `stride` elements apart.
struct Operand {
  const float* first;
  std::size_t stride;
};

struct Result {
  float* first;
  std::size_t stride;
};

struct Extents {
  std::size_t rows;
  std::size_t inner;
  std::size_t cols;
};

// As many ones as there are, then as many zeros; and what to add to a score so that it counts as masked where a zero stands.
template <std::size_t Size>
struct CausalRows {
  alignas(64) float takes_part[2 * Size];
  alignas(64) float addend[2 * Size];

  constexpr CausalRows() noexcept : takes_part(), addend() {
    for (std::size_t i = 0; i < 2 * Size; ++i) {
      takes_part[i] = i < Size ? 1.0f : 0.0f;
      addend[i] = i < Size ? 0.0f : -std::numeric_limits<float>::infinity();
    }
  }
};

// row = softmax of its first `visible` elements, times scale, and zeros behind them: at most Size elements in all. Every loop goes over
// the whole row, since vectors that are masked cost less than rows of any length.
template <std::size_t Size>
void masked_softmax(auto&& row, std::size_t visible, float scale) {
  static constexpr CausalRows<Size> causal;
  const auto of_row = [&](const float* elements) {
    return Eigen::Map<const std::remove_cvref_t<decltype(row.eval())>>(elements + (Size - visible), row.rows(), row.cols());
  };
  row += of_row(causal.addend);
  row = ((row - row.maxCoeff()) * scale).exp() * of_row(causal.takes_part);
  row *= 1.0f / row.sum();
}

// Gemm::multiply(extents, a, b, out) is out = a * b, Gemm::multiply_transposed is out = a * bᵀ.
template <class Gemm, class Operands>
struct ComposedAttention {
  static constexpr std::size_t tokens = Operands::tokens;
  static constexpr std::size_t d_in = Operands::d_in;
  static constexpr std::size_t d_out = Operands::d_out;
  static constexpr std::size_t head_dim = Operands::head_dim;
  static constexpr std::size_t block = std::min<std::size_t>(tokens, 64);

  static inline const float scale = 1.0f / std::sqrt(static_cast<float>(head_dim));

  alignas(64) static inline Matrix<float, tokens, d_out> query, key, value, context;
  alignas(64) static inline Matrix<float, block, tokens> scores;

  static void compute(Operands& operands) {
    constexpr Extents projection{tokens, d_in, d_out};
    const Operand x{operands.x.data(), d_in};
    Gemm::multiply(projection, x, {operands.layer.query.weight.data(), d_out}, {query.data(), d_out});
    Gemm::multiply(projection, x, {operands.layer.key.weight.data(), d_out}, {key.data(), d_out});
    Gemm::multiply(projection, x, {operands.layer.value.weight.data(), d_out}, {value.data(), d_out});
    for (std::size_t first = 0; first < tokens; first += block)
      for (std::size_t head = 0; head < Operands::num_heads; ++head) attend(first, head * head_dim);
    Gemm::multiply({tokens, d_out, d_out}, {context.data(), d_out}, {operands.layer.out_proj.weight.data(), d_out},
                   {operands.out.data(), d_out});
    for (std::size_t i = 0; i < tokens; ++i)
      for (std::size_t j = 0; j < d_out; ++j) operands.out(i, j) += operands.layer.out_proj.bias(j);
  }

  // The rows from `first` on, of the head whose columns start at `column`.
  static void attend(std::size_t first, std::size_t column) {
    const std::size_t queries = std::min(block, tokens - first);
    const std::size_t keys = first + queries;
    Gemm::multiply_transposed({queries, head_dim, keys}, {&query(first, column), d_out}, {&key(0, column), d_out}, {scores.data(), tokens});
    for (std::size_t i = 0; i < queries; ++i)
      masked_softmax<tokens>(Eigen::Map<Eigen::ArrayXf>(&scores(i, 0), static_cast<Eigen::Index>(keys)), first + i + 1, scale);
    Gemm::multiply({queries, keys, head_dim}, {scores.data(), tokens}, {&value(0, column), d_out}, {&context(first, column), d_out});
  }
};

// What such a library computes of a table.
template <class Gemm>
struct Composed {
  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  static void compute(Matmul<Rows, Inner, Cols>& operands) {
    Gemm::multiply({Rows, Inner, Cols}, {operands.a.data(), Inner}, {operands.b.data(), Cols}, {operands.out.data(), Cols});
  }

  template <std::size_t Tokens, std::size_t DIn, std::size_t DOut, std::size_t NumHeads>
  static void compute(Attention<Tokens, DIn, DOut, NumHeads>& operands) {
    ComposedAttention<Gemm, Attention<Tokens, DIn, DOut, NumHeads>>::compute(operands);
  }
};

}  // namespace tinyattn::bench
