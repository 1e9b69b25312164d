// SPDX-License-Identifier: MIT
//
// Matrices of double.
//
// expect: a and b must hold floats
// lines: 20
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Matrix<double, 2, 3>& a, const Matrix<float, 3, 4>& b, Matrix<float, 2, 4>& out) { matmul(a, b, out); }
