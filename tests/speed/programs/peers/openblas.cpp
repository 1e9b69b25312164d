// SPDX-License-Identifier: MIT
//
// Rows by OpenBLAS.
#include "../composed.hpp"
#include "../row.hpp"

#include <cblas.h>

namespace tinyattn::bench {

namespace {

struct OpenBlas {
  static void multiply(Extents extents, Operand a, Operand b, Result out, bool b_is_transposed = false) {
    const auto number = [](std::size_t size) { return static_cast<int>(size); };
    if (extents.rows == 1 && !b_is_transposed)
      return cblas_sgemv(CblasRowMajor, CblasTrans, number(extents.inner), number(extents.cols), 1.0f, b.first, number(b.stride), a.first,
                         1, 0.0f, out.first, 1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, b_is_transposed ? CblasTrans : CblasNoTrans, number(extents.rows), number(extents.cols),
                number(extents.inner), 1.0f, a.first, number(a.stride), b.first, number(b.stride), 0.0f, out.first, number(out.stride));
  }
};

}  // namespace

const Row row = RowBy<Composed<OpenBlas>, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
