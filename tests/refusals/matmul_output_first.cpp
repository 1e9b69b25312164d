// SPDX-License-Identifier: MIT
//
// The output first, as in BLAS's dgemm of other languages.
//
// expect: out must hold floats, and not be const
// lines: 20
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(Matrix<float, 2, 4>& out, const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b) { matmul(out, a, b); }
