// SPDX-License-Identifier: MIT
//
// The same with an output.
//
// expect: columns of a must equal rows of b
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& a, const Matrix<float, 4, 2>& b, Matrix<float, 2, 2>& out) { matmul(a, b, out); }
