// SPDX-License-Identifier: MIT
//
// A rate is a constant: its threshold is an integer before the program runs.
//
// expect: constant expression
#include "tinyattn/dropout.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m, double rate, Mt19937& generator) { dropout(m, rate, generator); }
