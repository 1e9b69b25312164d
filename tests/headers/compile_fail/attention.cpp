// SPDX-License-Identifier: MIT
//
// Attention, its masks, and calls of its layers.
#include "given.hpp"

// --- Attention ---

// expect: query and key must have the same number of columns
auto query_and_key_differ() { return scaled_dot_product_attention(x, narrow, narrow); }
// expect: key and value must have the same number of rows
auto key_and_value_differ() { return scaled_dot_product_attention(x, x, shorter); }
// expect: query, key and value must hold floats
auto attention_of_doubles() { return scaled_dot_product_attention(x, doubles, x); }
// expect: scaled_dot_product_attention takes
void attention_into_temporary() { scaled_dot_product_attention(x, x, x, Causal{}, Matrix<float, 6, 4>{}); }
// expect: out must have the rows of query and the columns of value
void attention_out_differs() { scaled_dot_product_attention(x, x, narrow, NoMask{}, out); }
// expect: weights must have the rows of query and a column for each row of key
void attention_weights_differ() { scaled_dot_product_attention(x, longer, longer, NoMask{}, out, square); }
// expect: MatrixView<const float, rows, columns, stride>
auto attention_of_arrays() { return scaled_dot_product_attention(array, array, array); }

// --- Masks ---

// expect: a Tensor<bool> alone does not say whether true masks or keeps
// in attn_mask of PyTorch, true masks in one interface and keeps in another
auto bare_bools_as_mask() { return scaled_dot_product_attention(x, x, x, bools); }
void bare_bools_in_a_layer() { layer.forward(x, bools, out, workspace); }
// expect: this is no mask: floats that are added to scores are an AdditiveMask
auto bare_floats_as_mask() { return scaled_dot_product_attention(x, x, x, square); }
// expect: mask must be [tokens, source tokens] or [source tokens]
auto mask_of_another_shape() { return scaled_dot_product_attention(x, longer, longer, BlockMask{bools}); }
void mask_of_each_head_in_training() { layer.forward(x, BlockMask{ones<bool, 2, 6, 6>()}, out, workspace, generator); }
// expect: or, with a mask for each head, [num_heads, tokens, source tokens]
void mask_of_another_shape_in_a_layer() { layer.forward(x, KeepMask{bools_of_five}, out, workspace); }
void masks_of_a_batch_of_blocks(Tensor<float, 2, 6, 4>& both) {
  decoder.forward(both, BlockMask{ones<bool, 4, 6, 6>()}, both, decoder_workspace);
}
void masks_of_more_heads() { layer.forward(x, BlockMask{ones<bool, 3, 6, 6>()}, out, workspace); }
// expect: a BlockMask or a KeepMask is made of a Tensor<bool>, true = masked or true = takes part; an AdditiveMask
auto block_mask_of_floats() { return BlockMask{square}; }
auto keep_mask_of_array(const bool (&mask)[5][5]) { return KeepMask{mask}; }
auto additive_mask_of_bools() { return AdditiveMask{bools}; }

// --- Shapes of a layer ---

// expect: x must have d_in columns
void wrong_columns() { layer.forward(narrow, out, workspace); }
void wrong_columns_of_memory() { layer.forward(x, narrow, narrow, out, workspace); }
Status wrong_columns_with_token_count() { return layer.forward(narrow, 3, out, workspace); }
// expect: inputs of query, key and value must have d_in, d_key and d_value columns
auto key_of_the_width_of_queries(const MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .d_key = 3}>& wide) {
  return wide(x, x, x);
}
// expect: x must have as many columns as the layer has inputs
auto wrong_columns_of_stacked_heads(const StackedCausalAttention<4, 2, 6, 2>& stacked) { return stacked(narrow); }
// expect: x must have d_in columns
auto wrong_columns_by_value() { return layer(narrow); }
// expect: more tokens than context_length
void more_tokens_than_context_length() { layer.forward(longer, longer, workspace); }
void more_tokens_in_training() { layer.forward(longer, longer, workspace, generator); }
void more_tokens_with_weights(Tensor<float, 2, 7, 7>& weights) { layer.forward_with_weights(longer, longer, weights, workspace); }
void more_query_tokens() { layer.forward(longer, x, x, longer, workspace); }
// context_length bounds the keys of cross-attention too
void more_source_tokens() { layer.forward(x, longer, longer, out, workspace); }
// expect: more tokens than context_length
auto more_tokens_by_value() { return layer(longer); }
// expect: key and value inputs must have the same number of tokens
void keys_and_values_of_two_lengths() { layer.forward(x, x, shorter, out, workspace); }
// expect: query, key and value inputs must have the same batch extents
auto batches_of_two_sizes(const Tensor<float, 3, 6, 4>& memory) { return layer(batch, memory, memory); }
// expect: out must have the tokens of x and d_out columns
void wrong_out() { layer.forward(x, narrow, workspace); }
Status wrong_out_rows() { return layer.forward(x, 3, shorter, workspace); }
// expect: weights must be [..., num_heads, tokens, source tokens]
void wrong_weights() { layer.forward_with_weights(x, out, square, workspace); }

// --- Arguments of a layer ---

// expect: nodiscard
void ignored_status(std::size_t num_tokens) { layer.forward(x, num_tokens, out, workspace); }
// expect: x must hold floats
void layer_of_doubles() { layer.forward(doubles, out, workspace); }
// expect: out must hold floats, and not be const
void layer_into_const() { layer.forward(x, constant, workspace); }
// expect: neither const nor a temporary
void training_into_temporary() { layer.forward(x, Matrix<float, 6, 4>{}, workspace, generator); }
// expect: out and weights are neither const nor temporaries
void weights_into_temporary() { layer.forward_with_weights(x, out, Tensor<float, 2, 6, 6>{}, workspace); }
// expect: workspace is this layer's Workspace
void layer_without_workspace() { layer.forward(x, out); }
void layer_workspace_first() { layer.forward(x, workspace, out); }
void layer_with_another_workspace(CausalAttention<3, 4, 6>::Workspace& another) { layer.forward(x, out, another); }
// expect: MatrixView<const float, rows, columns, stride>
void array_as_input() { layer.forward(array, out, workspace); }
void pointer_as_input(const float* pointer) { layer.forward(pointer, out, workspace); }
auto array_as_only_input() { return layer(array); }
// expect: out is a tensor or a MatrixView
void array_as_output() { layer.forward(x, array, workspace); }
// expect: forward takes (x, out, workspace)
void braces_as_input() { layer.forward({{1.0f, 2.0f, 3.0f, 4.0f}, {4.0f, 5.0f, 6.0f, 7.0f}}, out, workspace); }
