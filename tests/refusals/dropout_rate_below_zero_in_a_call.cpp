// SPDX-License-Identifier: MIT
//
// The same below zero.
//
// expect: detail::CheckedDropoutRate::
#include "tinyattn/dropout.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m, Mt19937& generator) { dropout(m, -0.5, generator); }
