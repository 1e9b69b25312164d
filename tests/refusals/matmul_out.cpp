// SPDX-License-Identifier: MIT
//
// Rows and columns of the output exchanged.
//
// expect: out must have the rows of a and the columns of b
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b, Matrix<float, 4, 2>& out) { matmul(a, b, out); }
