// SPDX-License-Identifier: MIT
//
// A matrix of double.
//
// expect: m must hold floats
// lines: 20
#include "tinyattn/softmax.hpp"

using namespace tinyattn;

auto use(const Matrix<double, 2, 3>& m) { return softmax(m); }
