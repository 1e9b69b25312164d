// SPDX-License-Identifier: MIT
//
// Three elements by four.
//
// expect: u and v must have the same size
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

void use(const Vector<float, 3>& u, const Vector<float, 4>& v) { dot(u, v); }
