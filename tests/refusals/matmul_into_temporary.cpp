// SPDX-License-Identifier: MIT
//
// An output that nobody would see.
//
// expect: matmul takes (a, b) or (a, b, out)
// lines: 20
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b) { matmul(a, b, Matrix<float, 2, 4>{}); }
