// SPDX-License-Identifier: MIT
//
// Rows without a neighbour.
//
// expect: a and b must have the same number of rows
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 3>& b) { concat_columns(a, b); }
