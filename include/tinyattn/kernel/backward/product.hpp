// SPDX-License-Identifier: MIT
//
// The two products of a backward pass. The gradient of a weight is a sum of outer products over
// tokens; that of an input is a product with the transposed weight.
#pragma once

#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// out[i][j] += the sum over k of a[k][i] * b[k][j]. The chain of fma of each element goes on from
// what it holds, k rising: so tokens and sequences that follow one another are one chain, however
// they are divided into calls.
struct OuterProduct {
  std::size_t rows, inner, cols;
  Dense a;     // [inner, rows]
  Dense b;     // [inner, cols]
  Output out;  // [rows, cols]; may not overlap a or b
};

template <class Port>
TINYATTN_KERNEL void add_outer_product(const OuterProduct& p) noexcept {
  matmul<Port>(Product<Transposed<>, Dense, Dense>{p.rows, p.inner, p.cols, Transposed<>{p.a}, p.b,
                                                   p.out, p.out});
}

// out = initial + a . b: each sum is one chain of fma.
template <class Port, class Initial = Bias>
TINYATTN_KERNEL void multiply_transposed(const Product<Dense, Transposed<>, Initial>& p) noexcept {
  matmul<Port>(p);
}

// sums[j] += row i of x, i rising.
template <class Port>
TINYATTN_KERNEL void add_column_sums(std::size_t rows, std::size_t cols, Dense x,
                                     float* sums) noexcept {
  for (std::size_t i = 0; i < rows; ++i) add_rows<Port>(sums, x.at(i, 0), sums, cols);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
