// SPDX-License-Identifier: MIT
//
// An output that cannot be written.
//
// expect: out must hold floats, and not be const
// lines: 20
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b, const Matrix<float, 2, 4>& out) { matmul(a, b, out); }
