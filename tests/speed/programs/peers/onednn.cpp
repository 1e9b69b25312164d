// SPDX-License-Identifier: MIT
//
// Rows by oneDNN.
#include "../composed.hpp"
#include "../row.hpp"

#include <dnnl.h>

namespace tinyattn::bench {
namespace {

void multiply(Extents extents, Operand a, char b_is, Operand b, Result out) {
  const auto number = [](std::size_t size) { return static_cast<dnnl_dim_t>(size); };
  dnnl_sgemm('N', b_is, number(extents.rows), number(extents.cols), number(extents.inner), 1.0f, a.first, number(a.stride), b.first,
             number(b.stride), 0.0f, out.first, number(out.stride));
}

struct OneDnn {
  static void multiply(Extents extents, Operand a, Operand b, Result out) { bench::multiply(extents, a, 'N', b, out); }
  static void multiply_transposed(Extents extents, Operand a, Operand b, Result out) { bench::multiply(extents, a, 'T', b, out); }
};

TINYATTN_BENCH_ROW_BY(Composed<OneDnn>);

}  // namespace
}  // namespace tinyattn::bench
