// SPDX-License-Identifier: MIT
//
// Floats to add are an AdditiveMask.
//
// expect: this is no mask
// lines: 20
#include "tinyattn/attention.hpp"

using namespace tinyattn;

void use(const Matrix<float, 5, 3>& x, const Matrix<float, 5, 5>& mask) { scaled_dot_product_attention(x, x, x, mask); }
