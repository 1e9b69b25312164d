// SPDX-License-Identifier: MIT
//
// Rows by this library, with the shapes in the types.
#ifdef TINYATTN_BENCH_MODELS
#include "models.hpp"
#endif
#include "row.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

namespace tinyattn::bench { namespace {

struct Tinyattn {
  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  static void compute(Matmul<Rows, Inner, Cols>& operands) {
    matmul(operands.a, operands.b, operands.out);
  }

  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  static void compute(Transposed<Rows, Inner, Cols>& operands) {
    matmul_transposed(operands.a, operands.b, operands.out);
  }

  template <std::size_t Rows, std::size_t Cols>
  static void compute(Softmax<Rows, Cols>& operands) {
    softmax(operands.scores, operands.out);
  }

  template <std::size_t Tokens, std::size_t DIn, std::size_t DOut, std::size_t NumHeads>
  static void compute(Attention<Tokens, DIn, DOut, NumHeads>& operands) {
    alignas(64) static typename Attention<Tokens, DIn, DOut, NumHeads>::Layer::Workspace workspace;
    operands.layer.forward(operands.x, operands.out, workspace);
  }

  // A model has a compute() of its own.
  static void compute(auto& model) requires requires { model.compute(); }
  { model.compute(); }

  static void compute(Nothing<0>&) {}
};

TINYATTN_BENCH_ROW_BY(Tinyattn);

}}  // namespace tinyattn::bench
