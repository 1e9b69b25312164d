// SPDX-License-Identifier: MIT
//
// True hides in one interface of PyTorch and keeps in another.
//
// expect: a Tensor<bool> alone does not say whether true hides or keeps
// lines: 20
#include "tinyattn/attention.hpp"

using namespace tinyattn;

void use(const Matrix<float, 5, 3>& x, const Matrix<bool, 5, 5>& mask) { scaled_dot_product_attention(x, x, x, mask); }
