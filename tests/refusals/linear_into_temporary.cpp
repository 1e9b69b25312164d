// SPDX-License-Identifier: MIT
//
// An output that nobody would see.
//
// expect: forward takes (x, out)
// lines: 20
#include "tinyattn/linear.hpp"

using namespace tinyattn;

void use(const Linear<3, 4>& linear, const Matrix<float, 2, 3>& x) { linear.forward(x, Matrix<float, 2, 4>{}); }
