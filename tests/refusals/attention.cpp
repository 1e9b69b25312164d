// SPDX-License-Identifier: MIT
//
// Attention, and its masks.
#include "tinyattn/attention.hpp"

using namespace tinyattn;

extern Matrix<float, 5, 3> x;

// --- query_and_key_differ: no dot product of three features with four
// expect: query and key must have the same number of columns
// lines: 40
auto use(const Matrix<float, 5, 4>& key) { return scaled_dot_product_attention(x, key, key); }

// --- key_and_value_differ: each key has its value
// expect: key and value must have the same number of rows
// lines: 40
auto use(const Matrix<float, 6, 3>& value) { return scaled_dot_product_attention(x, x, value); }

// --- attention_of_doubles: keys of double
// expect: query, key and value must hold floats
auto use(const Matrix<double, 5, 3>& key) { return scaled_dot_product_attention(x, key, x); }

// --- attention_into_temporary: an output that nobody would see
// expect: scaled_dot_product_attention takes
void use() { scaled_dot_product_attention(x, x, x, Causal{}, Matrix<float, 5, 3>{}); }

// --- attention_out_differs: the context is as wide as the values, not as the queries
// expect: out must have the rows of query and the columns of value
void use(const Matrix<float, 5, 4>& value, Matrix<float, 5, 3>& out) { scaled_dot_product_attention(x, x, value, NoMask{}, out); }

// --- attention_weights_differ: a weight for each key
// expect: weights must have the rows of query and a column for each row of key
void use(const Matrix<float, 7, 3>& key, Matrix<float, 5, 3>& out, Matrix<float, 5, 5>& weights) {
  scaled_dot_product_attention(x, key, key, NoMask{}, out, weights);
}

// --- bare_bools_as_mask: true hides in one interface of PyTorch and keeps in another
// expect: a Tensor<bool> alone does not say whether true hides or keeps
auto use(const Matrix<bool, 5, 5>& mask) { return scaled_dot_product_attention(x, x, x, mask); }

// --- bare_floats_as_mask: floats to add are an AdditiveMask
// expect: this is no mask: floats that are added to scores are an AdditiveMask
auto use(const Matrix<float, 5, 5>& mask) { return scaled_dot_product_attention(x, x, x, mask); }

// --- mask_of_another_shape: a mask of the queries alone
// expect: mask must be [tokens, source tokens] or [source tokens]
auto use(const Matrix<float, 7, 3>& memory, const Matrix<bool, 5, 5>& mask) {
  return scaled_dot_product_attention(x, memory, memory, BlockMask{mask});
}

// --- block_mask_of_floats: zeros and -infinity are added
// expect: a BlockMask is made of a Tensor<bool>, true = masked; floats are an AdditiveMask
auto use(const Matrix<float, 5, 5>& mask) { return BlockMask{mask}; }

// --- keep_mask_of_array: an array is no tensor
// expect: a KeepMask is made of a Tensor<bool>
auto use(const bool (&mask)[5][5]) { return KeepMask{mask}; }

// --- additive_mask_of_bools: which of them would hide
// expect: an AdditiveMask is made of a Tensor<float>
auto use(const Matrix<bool, 5, 5>& mask) { return AdditiveMask{mask}; }

// --- attention_of_arrays: a matrix as C has it
// expect: MatrixView<const float, rows, columns, stride>
// lines: 30
auto use(const float (&array)[5][3]) { return scaled_dot_product_attention(array, array, array); }
