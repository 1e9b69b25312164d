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

// --- wrong_columns: two features for a layer that takes three
// expect: x must have d_in columns
void use(const Matrix<float, 5, 2>& narrow) { layer.forward(narrow, out, workspace); }

// --- wrong_columns_by_value: the same, by value
// expect: x must have d_in columns
// lines: 40
auto use(const Matrix<float, 5, 2>& narrow) { return layer(narrow); }

// --- wrong_columns_of_memory: the same in the source of cross-attention
// expect: x must have d_in columns
void use(const Matrix<float, 5, 2>& memory) { layer.forward(x, memory, memory, out, workspace); }

// --- wrong_columns_of_stacked_heads: the same for stacked heads
// expect: x must have d_in columns
auto use(const Stacked& stacked, const Matrix<float, 5, 2>& narrow) { return stacked(narrow); }

// --- wrong_columns_with_token_count: the same with a token count
// expect: x must have d_in columns
Status use(const Matrix<float, 5, 2>& narrow) { return layer.forward(narrow, 3, out, workspace); }

// --- more_tokens_than_context_length: seven tokens for a layer of six
// expect: more tokens than context_length
void use(const Matrix<float, 7, 3>& longer, Matrix<float, 7, 4>& result) { layer.forward(longer, result, workspace); }

// --- more_tokens_by_value: the same, by value
// expect: more tokens than context_length
// lines: 40
auto use(const Matrix<float, 7, 3>& longer) { return layer(longer); }

// --- more_tokens_in_training: the same in a training pass
// expect: more tokens than context_length
void use(const Matrix<float, 7, 3>& longer, Matrix<float, 7, 4>& result, Mt19937& generator) {
  layer.forward(longer, result, workspace, generator);
}

// --- more_tokens_with_weights: the same with weights
// expect: more tokens than context_length
void use(const Matrix<float, 7, 3>& longer, Matrix<float, 7, 4>& result, Tensor<float, 2, 7, 7>& weights) {
  layer.forward_with_weights(longer, result, weights, workspace);
}

// --- more_query_tokens: cross-attention from seven queries to five keys
// expect: more tokens than context_length
void use(const Matrix<float, 7, 3>& longer, Matrix<float, 7, 4>& result) { layer.forward(longer, x, x, result, workspace); }

// --- more_source_tokens: context_length bounds the keys of cross-attention as well
// expect: more tokens than context_length
void use(const Matrix<float, 7, 3>& memory) { layer.forward(x, memory, memory, out, workspace); }

// --- keys_and_values_of_two_lengths: each key has its value
// expect: key and value inputs must have the same number of tokens
void use(const Matrix<float, 6, 3>& keys) { layer.forward(x, keys, x, out, workspace); }

// --- batches_of_two_sizes: two items attend to three
// expect: query, key and value inputs must have the same batch extents
auto use(const Tensor<float, 2, 5, 3>& batch, const Tensor<float, 3, 5, 3>& memory) { return layer(batch, memory, memory); }

// --- wrong_out: an output as wide as the input, for a layer that is wider
// expect: out must have the tokens of x and d_out columns
void use(Matrix<float, 5, 3>& narrow) { layer.forward(x, narrow, workspace); }

// --- wrong_out_rows: with a token count, too, the output has the rows of the input
// expect: out must have the tokens of x and d_out columns
Status use(Matrix<float, 3, 4>& shorter) { return layer.forward(x, 3, shorter, workspace); }

// --- wrong_weights: one matrix of weights for two heads
// expect: weights must be [..., num_heads, tokens, source tokens]
void use(Matrix<float, 5, 5>& weights) { layer.forward_with_weights(x, out, weights, workspace); }

// --- ignored_status: whoever gives a token count looks at what comes back
// expect: nodiscard
void use(std::size_t tokens) { layer.forward(x, tokens, out, workspace); }

// --- layer_of_doubles: an input of double
// expect: x must hold floats
void use(const Matrix<double, 5, 3>& doubles) { layer.forward(doubles, out, workspace); }

// --- layer_into_const: an output that cannot be written
// expect: out must hold floats, and not be const
void use(const Matrix<float, 5, 4>& constant) { layer.forward(x, constant, workspace); }

// --- training_into_temporary: an output that nobody would see, in a training pass
// expect: neither const nor a temporary
void use(Mt19937& generator) { layer.forward(x, Matrix<float, 5, 4>{}, workspace, generator); }

// --- weights_into_temporary: whoever wants the weights must keep them
// expect: out and weights are neither const nor temporaries
void use() { layer.forward_with_weights(x, out, Tensor<float, 2, 5, 5>{}, workspace); }

// --- layer_without_workspace: where shall it compute?
// expect: workspace is this layer's Workspace
void use() { layer.forward(x, out); }

// --- layer_workspace_first: the workspace before the output
// expect: workspace is this layer's Workspace
void use() { layer.forward(x, workspace, out); }

// --- layer_with_another_workspace: scratch of a layer of another shape
// expect: workspace is this layer's Workspace
void use(CausalAttention<3, 4, 6>::Workspace& another) { layer.forward(x, out, another); }

// --- bare_bools_in_a_layer: true hides in one interface of PyTorch and keeps in another
// expect: a Tensor<bool> alone does not say whether true hides or keeps
void use(const Matrix<bool, 5, 5>& mask) { layer.forward(x, mask, out, workspace); }

// --- mask_of_another_shape_in_a_layer: a mask of six tokens for five
// expect: mask must be [tokens, source tokens] or [source tokens]
void use(const Matrix<bool, 6, 6>& mask) { layer.forward(x, KeepMask{mask}, out, workspace); }

// --- array_as_input: a matrix as C has it
// expect: MatrixView<const float, rows, columns, stride>
// lines: 30
void use(const float (&array)[5][3]) { layer.forward(array, out, workspace); }

// --- pointer_as_input: a matrix of which only the start is known
// expect: MatrixView<const float, rows, columns, stride>
// lines: 30
void use(const float* pointer) { layer.forward(pointer, out, workspace); }

// --- array_as_only_input: where no form has an output
// expect: MatrixView<const float, rows, columns, stride>
// lines: 30
auto use(const float (&array)[5][3]) { return layer(array); }

// --- array_as_output: a matrix as C has it
// expect: out is a tensor or a MatrixView
void use(float (&array)[5][4]) { layer.forward(x, array, workspace); }

// --- braces_as_input: no shape can be read from them
// expect: forward takes (x, out, workspace)
void use() { layer.forward({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}, out, workspace); }
