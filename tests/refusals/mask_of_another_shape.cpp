// SPDX-License-Identifier: MIT
//
// A mask of the queries alone.
//
// expect: mask must be [tokens, source tokens] or [source tokens]
#include "tinyattn/attention.hpp"

using namespace tinyattn;

void use(const Matrix<float, 5, 3>& x, const Matrix<float, 7, 3>& memory, const Matrix<bool, 5, 5>& mask) {
  scaled_dot_product_attention(x, memory, memory, BlockMask{mask});
}
