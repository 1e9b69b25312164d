// SPDX-License-Identifier: MIT
//
// Each key has its value.
//
// expect: key and value must have the same number of rows
#include "tinyattn/attention.hpp"

using namespace tinyattn;

void use(const Matrix<float, 5, 3>& query, const Matrix<float, 6, 3>& value) { scaled_dot_product_attention(query, query, value); }
