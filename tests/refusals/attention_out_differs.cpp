// SPDX-License-Identifier: MIT
//
// The context is as wide as the values, not as the queries.
//
// expect: out must have the rows of query and the columns of value
#include "tinyattn/attention.hpp"

using namespace tinyattn;

void use(const Matrix<float, 5, 3>& query, const Matrix<float, 5, 4>& value, Matrix<float, 5, 3>& out) {
  scaled_dot_product_attention(query, query, value, NoMask{}, out);
}
