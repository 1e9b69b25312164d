// SPDX-License-Identifier: MIT
//
// An output that nobody would see.
//
// expect: scaled_dot_product_attention takes
// lines: 20
#include "tinyattn/attention.hpp"

using namespace tinyattn;

using M = Matrix<float, 2, 3>;

void use(const M& m) { scaled_dot_product_attention(m, m, m, Causal{}, M{}); }
