// SPDX-License-Identifier: MIT
//
// Three columns against four rows.
//
// expect: columns of a must equal rows of b
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& a, const Matrix<float, 4, 2>& b) { matmul(a, b); }
