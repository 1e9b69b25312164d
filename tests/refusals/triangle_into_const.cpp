// SPDX-License-Identifier: MIT
//
// A constant cannot be an output.
//
// expect: out must have the type of m's elements, and not be const
// lines: 20
#include "tinyattn/mask.hpp"

using namespace tinyattn;

void use(const Matrix<float, 3, 3>& m, const Matrix<float, 3, 3>& out) { tril(m, 0, out); }
