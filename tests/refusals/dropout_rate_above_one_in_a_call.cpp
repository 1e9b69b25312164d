// SPDX-License-Identifier: MIT
//
// A constant rate is looked at while it is compiled.
//
// expect: detail::CheckedDropoutRate::
#include "tinyattn/dropout.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m, Mt19937& generator) { dropout(m, 1.5, generator); }
