// SPDX-License-Identifier: MIT
//
// A number is no bool.
//
// expect: out must have the type of m's elements
// lines: 20
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m, Matrix<bool, 3, 2>& out) { transpose(m, out); }
