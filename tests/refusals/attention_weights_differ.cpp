// SPDX-License-Identifier: MIT
//
// A weight for each key.
//
// expect: weights must have the rows of query and a column for each row of key
#include "tinyattn/attention.hpp"

using namespace tinyattn;

void use(const Matrix<float, 5, 3>& query, const Matrix<float, 7, 3>& key, Matrix<float, 5, 3>& out, Matrix<float, 5, 5>& weights) {
  scaled_dot_product_attention(query, key, key, NoMask{}, out, weights);
}
