// SPDX-License-Identifier: MIT
//
// No dot product of three features with four.
//
// expect: query and key must have the same number of columns
#include "tinyattn/attention.hpp"

using namespace tinyattn;

void use(const Matrix<float, 5, 3>& query, const Matrix<float, 5, 4>& key) { scaled_dot_product_attention(query, key, key); }
