// SPDX-License-Identifier: MIT
//
// Rows by oneDNN.
#include "../composed.hpp"
#include "../row.hpp"

#include <dnnl.h>

namespace tinyattn::bench {

namespace {

struct OneDnn {
  static void multiply(Extents extents, Operand a, Operand b, Result out, bool b_is_transposed = false) {
    const auto number = [](std::size_t size) { return static_cast<dnnl_dim_t>(size); };
    dnnl_sgemm('N', b_is_transposed ? 'T' : 'N', number(extents.rows), number(extents.cols), number(extents.inner), 1.0f, a.first,
               number(a.stride), b.first, number(b.stride), 0.0f, out.first, number(out.stride));
  }
};

}  // namespace

const Row row = RowBy<Composed<OneDnn>, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
