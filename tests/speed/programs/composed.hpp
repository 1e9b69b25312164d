// SPDX-License-Identifier: MIT
//
// Attention and softmax for libraries that only multiply, as a careful user composes them: in blocks of query rows, so that keys masked in
// a whole block cost nothing and scores stay in the cache, and with a vectorized softmax.
#pragma once

#include "operations.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace tinyattn::bench {

// A matrix in memory, whose rows begin `stride` elements apart.
template <class Float>
struct Strided {
  Float* first;
  std::size_t stride;
};
using Operand = Strided<const float>;
using Result = Strided<float>;

struct Extents {
  std::size_t rows;
  std::size_t inner;
  std::size_t cols;
};

// A causal mask's rows are parts of these: `takes_part` is Size ones, then Size zeros; `addend` is 0, or masks a score.
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

// row = softmax of its first `visible` elements times scale, followed by zeros. Every loop covers the whole row, since masked vectors cost
// less than rows of any length.
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

// Composes the operations of a table from products. Gemm::multiply(extents, a, b, out) is out = a * b, or out = a * bᵀ with
// b_is_transposed.
template <class Gemm>
struct Composed {
  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  static void compute(Matmul<Rows, Inner, Cols>& operands) {
    Gemm::multiply({Rows, Inner, Cols}, {operands.a.data(), Inner}, {operands.b.data(), Cols}, {operands.out.data(), Cols});
  }

  template <std::size_t Tokens, std::size_t DIn, std::size_t DOut, std::size_t NumHeads>
  static void compute(Attention<Tokens, DIn, DOut, NumHeads>& operands) {
    constexpr std::size_t head_dim = DOut / NumHeads;
    constexpr std::size_t block = std::min<std::size_t>(Tokens, 64);
    static const float scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
    alignas(64) static Matrix<float, Tokens, DOut> query, key, value, context;
    alignas(64) static Matrix<float, block, Tokens> scores;

    constexpr Extents projection{Tokens, DIn, DOut};
    const auto& layer = operands.layer;
    const Operand x{operands.x.data(), DIn};
    Gemm::multiply(projection, x, {layer.query.weight.data(), DOut}, {query.data(), DOut});
    Gemm::multiply(projection, x, {layer.key.weight.data(), DOut}, {key.data(), DOut});
    Gemm::multiply(projection, x, {layer.value.weight.data(), DOut}, {value.data(), DOut});
    for (std::size_t first = 0; first < Tokens; first += block) {
      const std::size_t queries = std::min(block, Tokens - first);
      const std::size_t keys = first + queries;
      for (std::size_t column = 0; column < DOut; column += head_dim) {
        Gemm::multiply({queries, head_dim, keys}, {&query(first, column), DOut}, {&key(0, column), DOut}, {scores.data(), Tokens}, true);
        for (std::size_t i = 0; i < queries; ++i)
          masked_softmax<Tokens>(Eigen::Map<Eigen::ArrayXf>(&scores(i, 0), static_cast<Eigen::Index>(keys)), first + i + 1, scale);
        Gemm::multiply({queries, keys, head_dim}, {scores.data(), Tokens}, {&value(0, column), DOut}, {&context(first, column), DOut});
      }
    }
    Gemm::multiply({Tokens, DOut, DOut}, {context.data(), DOut}, {layer.out_proj.weight.data(), DOut}, {operands.out.data(), DOut});
    for (std::size_t i = 0; i < Tokens; ++i)
      for (std::size_t j = 0; j < DOut; ++j) operands.out(i, j) += layer.out_proj.bias(j);
  }
};

}  // namespace tinyattn::bench
