// SPDX-License-Identifier: MIT
//
// Rows by Eigen, which like us knows the shapes at compile time.
#include "../composed.hpp"
#include "../row.hpp"

#include <Eigen/Core>

namespace tinyattn::bench {

namespace {

template <std::size_t Rows, std::size_t Cols>
using Fixed = Eigen::Matrix<float, Rows, Cols, Eigen::RowMajor>;

template <std::size_t Rows, std::size_t Cols>
auto fixed(Matrix<float, Rows, Cols>& matrix) {
  return Eigen::Map<Fixed<Rows, Cols>, Eigen::Aligned64>(matrix.data());
}

template <class Float>
auto dynamic(Strided<Float> matrix, std::size_t rows, std::size_t cols) {
  using Dynamic = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Viewed = std::conditional_t<std::is_const_v<Float>, const Dynamic, Dynamic>;
  return Eigen::Map<Viewed, 0, Eigen::OuterStride<>>(matrix.first, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols),
                                                     Eigen::OuterStride<>(static_cast<Eigen::Index>(matrix.stride)));
}

struct EigenGemm {
  static void multiply(Extents extents, Operand a, Operand b, Result out, bool b_is_transposed = false) {
    auto product = dynamic(out, extents.rows, extents.cols);
    const auto left = dynamic(a, extents.rows, extents.inner);
    if (b_is_transposed)
      product.noalias() = left * dynamic(b, extents.cols, extents.inner).transpose();
    else
      product.noalias() = left * dynamic(b, extents.inner, extents.cols);
  }
};

// A layer of few tokens, all of whose extents are compile-time constants.
template <class Operands>
void attend_whole(Operands& operands) {
  constexpr auto tokens = static_cast<Eigen::Index>(Operands::tokens);
  constexpr auto head_dim = static_cast<Eigen::Index>(Operands::head_dim);
  using Tokens = Fixed<Operands::tokens, Operands::d_out>;
  alignas(64) static Tokens query, key, value, context;
  alignas(64) static Fixed<Operands::tokens, Operands::tokens> scores;
  const auto x = fixed(operands.x);
  auto& layer = operands.layer;
  query.noalias() = x * fixed(layer.query.weight);
  key.noalias() = x * fixed(layer.key.weight);
  value.noalias() = x * fixed(layer.value.weight);
  for (Eigen::Index column = 0; column < context.cols(); column += head_dim) {
    scores.noalias() = query.template middleCols<head_dim>(column) * key.template middleCols<head_dim>(column).transpose();
    for (Eigen::Index i = 0; i < tokens; ++i)
      masked_softmax<Operands::tokens>(scores.row(i).array(), static_cast<std::size_t>(i) + 1,
                                       1.0f / std::sqrt(static_cast<float>(head_dim)));
    context.template middleCols<head_dim>(column).noalias() = scores * value.template middleCols<head_dim>(column);
  }
  auto out = fixed(operands.out);
  out.noalias() = context * fixed(layer.out_proj.weight);
  out.rowwise() += Eigen::Map<const Eigen::RowVector<float, Tokens::ColsAtCompileTime>>(layer.out_proj.bias.data());
}

struct OfEigen : Composed<EigenGemm> {
  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  static void compute(Matmul<Rows, Inner, Cols>& operands) {
    fixed(operands.out).noalias() = fixed(operands.a) * fixed(operands.b);
  }

  template <std::size_t Rows, std::size_t Cols>
  static void compute(Softmax<Rows, Cols>& operands) {
    auto out = fixed(operands.out);
    const auto scores = fixed(operands.scores);
    for (std::size_t i = 0; i < Rows; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      out.row(row).array() = (scores.row(row).array() - scores.row(row).maxCoeff()).exp();
      out.row(row) *= 1.0f / out.row(row).sum();
    }
  }

  template <std::size_t Tokens, std::size_t DIn, std::size_t DOut, std::size_t NumHeads>
  static void compute(Attention<Tokens, DIn, DOut, NumHeads>& operands) {
    if constexpr (Tokens <= 64)
      attend_whole(operands);
    else
      Composed<EigenGemm>::compute(operands);
  }
};

}  // namespace

const Row row = RowBy<OfEigen, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
