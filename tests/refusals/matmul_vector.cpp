// SPDX-License-Identifier: MIT
//
// The same for a vector.
//
// expect: columns of a must equal rows of b
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Vector<float, 3>& v, const Matrix<float, 4, 2>& b) { matmul(v, b); }
