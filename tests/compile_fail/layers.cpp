// SPDX-License-Identifier: MIT
//
// Calls of a layer: from three features to four, for up to six tokens, with two heads.
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;
using Stacked = StackedCausalAttention<3, 2, 6, 2>;

extern const Layer layer;
extern Layer::Workspace workspace;
extern Matrix<float, 5, 3> x;
extern Matrix<float, 5, 4> out;
extern const Matrix<float, 5, 2> two_columns;
extern const Matrix<float, 7, 3> longer;
extern Matrix<float, 7, 4> longer_out;

// expect: x must have d_in columns
void wrong_columns() { layer.forward(two_columns, out, workspace); }
// lines: 40
auto wrong_columns_by_value() { return layer(two_columns); }
void wrong_columns_of_memory() { layer.forward(x, two_columns, two_columns, out, workspace); }
auto wrong_columns_of_stacked_heads(const Stacked& stacked) { return stacked(two_columns); }
Status wrong_columns_with_token_count() { return layer.forward(two_columns, 3, out, workspace); }

// expect: more tokens than context_length
void more_tokens_than_context_length() { layer.forward(longer, longer_out, workspace); }
// lines: 40
auto more_tokens_by_value() { return layer(longer); }
void more_tokens_in_training(Mt19937& generator) { layer.forward(longer, longer_out, workspace, generator); }
void more_tokens_with_weights(Tensor<float, 2, 7, 7>& weights) { layer.forward_with_weights(longer, longer_out, weights, workspace); }
void more_query_tokens() { layer.forward(longer, x, x, longer_out, workspace); }
// context_length bounds the keys of cross-attention too
void more_source_tokens() { layer.forward(x, longer, longer, out, workspace); }

// expect: key and value inputs must have the same number of tokens
void keys_and_values_of_two_lengths(const Matrix<float, 6, 3>& keys) { layer.forward(x, keys, x, out, workspace); }

// expect: query, key and value inputs must have the same batch extents
auto batches_of_two_sizes(const Tensor<float, 2, 5, 3>& batch, const Tensor<float, 3, 5, 3>& memory) {
  return layer(batch, memory, memory);
}

// expect: out must have the tokens of x and d_out columns
void wrong_out(Matrix<float, 5, 3>& narrow) { layer.forward(x, narrow, workspace); }
Status wrong_out_rows(Matrix<float, 3, 4>& shorter) { return layer.forward(x, 3, shorter, workspace); }

// expect: weights must be [..., num_heads, tokens, source tokens]
void wrong_weights(Matrix<float, 5, 5>& weights) { layer.forward_with_weights(x, out, weights, workspace); }

// expect: nodiscard
void ignored_status(std::size_t tokens) { layer.forward(x, tokens, out, workspace); }

// expect: x must hold floats
void layer_of_doubles(const Matrix<double, 5, 3>& doubles) { layer.forward(doubles, out, workspace); }

// expect: out must hold floats, and not be const
void layer_into_const(const Matrix<float, 5, 4>& constant) { layer.forward(x, constant, workspace); }

// expect: neither const nor a temporary
void training_into_temporary(Mt19937& generator) { layer.forward(x, Matrix<float, 5, 4>{}, workspace, generator); }

// expect: out and weights are neither const nor temporaries
void weights_into_temporary() { layer.forward_with_weights(x, out, Tensor<float, 2, 5, 5>{}, workspace); }

// expect: workspace is this layer's Workspace
void layer_without_workspace() { layer.forward(x, out); }
void layer_workspace_first() { layer.forward(x, workspace, out); }
void layer_with_another_workspace(CausalAttention<3, 4, 6>::Workspace& another) { layer.forward(x, out, another); }

// expect: a Tensor<bool> alone does not say whether true hides or keeps
void bare_bools_in_a_layer(const Matrix<bool, 5, 5>& mask) { layer.forward(x, mask, out, workspace); }

// expect: mask must be [tokens, source tokens] or [source tokens]
void mask_of_another_shape_in_a_layer(const Matrix<bool, 6, 6>& mask) { layer.forward(x, KeepMask{mask}, out, workspace); }

// expect: MatrixView<const float, rows, columns, stride>
// lines: 30
void array_as_input(const float (&array)[5][3]) { layer.forward(array, out, workspace); }
// lines: 30
void pointer_as_input(const float* pointer) { layer.forward(pointer, out, workspace); }
// lines: 30
auto array_as_only_input(const float (&array)[5][3]) { return layer(array); }

// expect: out is a tensor or a MatrixView
void array_as_output(float (&array)[5][4]) { layer.forward(x, array, workspace); }

// expect: forward takes (x, out, workspace)
void braces_as_input() { layer.forward({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}, out, workspace); }
