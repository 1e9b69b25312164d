// SPDX-License-Identifier: MIT
//
// b is meant transposed, but is written straight.
//
// expect: columns of a must equal columns of b
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 2>& b) { matmul_transposed(a, b); }
