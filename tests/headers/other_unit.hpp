// SPDX-License-Identifier: MIT
//
// Code that each of the two translation units compiles and computes by itself.
#pragma once

#include "support/check.hpp"
#include "tinyattn/tinyattn.hpp"

namespace tinyattn::test {

inline auto inputs() { return opaque(matrix<float>({{0.43f, 0.15f, 0.89f}, {0.55f, 0.87f, 0.66f}})); }

inline auto causal_attention(const Matrix<float, 2, 3>& x) { return scaled_dot_product_attention(x, x, x, Causal{}); }

Matrix<float, 2, 3> causal_attention_in_another_unit();

}  // namespace tinyattn::test
