// SPDX-License-Identifier: MIT
//
// Attention, and its masks.
#include "tinyattn/attention.hpp"

using namespace tinyattn;

extern Matrix<float, 5, 3> x;

// expect: query and key must have the same number of columns
// lines: 40
auto query_and_key_differ(const Matrix<float, 5, 4>& key) { return scaled_dot_product_attention(x, key, key); }

// expect: key and value must have the same number of rows
// lines: 40
auto key_and_value_differ(const Matrix<float, 6, 3>& value) { return scaled_dot_product_attention(x, x, value); }

// expect: query, key and value must hold floats
auto attention_of_doubles(const Matrix<double, 5, 3>& key) { return scaled_dot_product_attention(x, key, x); }

// expect: scaled_dot_product_attention takes
void attention_into_temporary() { scaled_dot_product_attention(x, x, x, Causal{}, Matrix<float, 5, 3>{}); }

// expect: out must have the rows of query and the columns of value
void attention_out_differs(const Matrix<float, 5, 4>& value, Matrix<float, 5, 3>& out) {
  scaled_dot_product_attention(x, x, value, NoMask{}, out);
}

// expect: weights must have the rows of query and a column for each row of key
void attention_weights_differ(const Matrix<float, 7, 3>& key, Matrix<float, 5, 3>& out, Matrix<float, 5, 5>& weights) {
  scaled_dot_product_attention(x, key, key, NoMask{}, out, weights);
}

// expect: a Tensor<bool> alone does not say whether true hides or keeps
// true masks in attn_mask of one interface of PyTorch and keeps in that of another
auto bare_bools_as_mask(const Matrix<bool, 5, 5>& mask) { return scaled_dot_product_attention(x, x, x, mask); }

// expect: this is no mask: floats that are added to scores are an AdditiveMask
auto bare_floats_as_mask(const Matrix<float, 5, 5>& mask) { return scaled_dot_product_attention(x, x, x, mask); }

// expect: mask must be [tokens, source tokens] or [source tokens]
auto mask_of_another_shape(const Matrix<float, 7, 3>& memory, const Matrix<bool, 5, 5>& mask) {
  return scaled_dot_product_attention(x, memory, memory, BlockMask{mask});
}

// expect: a BlockMask is made of a Tensor<bool>, true = masked; floats are an AdditiveMask
auto block_mask_of_floats(const Matrix<float, 5, 5>& mask) { return BlockMask{mask}; }

// expect: a KeepMask is made of a Tensor<bool>
auto keep_mask_of_array(const bool (&mask)[5][5]) { return KeepMask{mask}; }

// expect: an AdditiveMask is made of a Tensor<float>
auto additive_mask_of_bools(const Matrix<bool, 5, 5>& mask) { return AdditiveMask{mask}; }

// expect: MatrixView<const float, rows, columns, stride>
// lines: 30
auto attention_of_arrays(const float (&array)[5][3]) { return scaled_dot_product_attention(array, array, array); }
