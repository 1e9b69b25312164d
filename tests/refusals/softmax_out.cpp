// SPDX-License-Identifier: MIT
//
// Weights for other scores.
//
// expect: out must have the shape of m
#include "tinyattn/softmax.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m, Matrix<float, 3, 2>& out) { softmax(m, out); }
