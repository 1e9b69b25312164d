// SPDX-License-Identifier: MIT
//
// Backward passes.
#include "tinyattn/training.hpp"

#include "given.hpp"

constexpr FeedForwardConfig hidden_in_int8{.d_model = 4, .d_hidden = 8, .weights = Weights::int8};
extern const Linear<4, 3> linear;
extern const Int8Linear int8_linear;
extern const Embedding<9, 4> embedding;
extern const FeedForward<hidden_in_int8> int8_feed_forward;
extern Linear<4, 3> linear_gradient;
extern Linear<4, 3, false> without_bias;
extern Int8Linear int8_gradient;
extern const Linear<4, 3> constant_gradient;
extern LayerNorm<4> norm_gradient;
extern LayerNorm<3> narrow_norm_gradient;
extern Embedding<9, 4> embedding_gradient;
extern FeedForward<hidden> hidden_gradient;
extern FeedForward<hidden_in_int8> int8_hidden_gradient;
extern BackwardWorkspace<FeedForward<hidden>> hidden_workspace;
extern Training<Model, Sgd> training;
struct Layers {
  Linear<4, 3> linear;
  Vector<float, 3> gain;
};
struct WithoutInput : Layers {
  using Parts = Parameters<&WithoutInput::linear>;
};
struct WithGain : Layers {
  using Input = Matrix<float, 6, 4>;
  using Parts = Parameters<&WithGain::linear, &WithGain::gain>;
};
struct WithInput : Layers {
  using Input = Matrix<float, 6, 4>;
  using Parts = Parameters<&WithInput::linear>;
};

// --- Modules ---

// expect: the gradient of an output must have the shape of the output
void gradient_of_another_output() { backward(linear, x, out, out, linear_gradient); }
// the gradient has as many rows as there are tokens
void gradient_of_fewer_tokens() { backward(embedding, tokens, shorter, no_gradient, embedding_gradient); }
void gradient_of_another_mean(Vector<float, 3>& d) { mean_backward(x, d, out); }
// expect: the gradient of an input must have the shape of the input, or be no_gradient
void gradient_of_another_input() { backward(linear, x, narrow, narrow, linear_gradient); }
void gradient_of_an_input_in_const() { backward(norm, x, x, constant, norm_gradient); }
void gradient_of_another_operand() { matmul_backward(square, x, out, square, narrow); }
// expect: the gradient of a module must be a module of the same type, or no_gradient
void gradient_of_another_module() { backward(linear, x, narrow, out, without_bias); }
void gradient_in_const() { backward(linear, x, narrow, out, constant_gradient); }
// expect: the backward pass of a Conv1d takes groups and a dilation of 1
void gradient_of_groups(Conv1d<Conv1dConfig{.in = 4, .out = 4, .kernel = 1, .groups = 2}>& its) { backward(its, x, x, out, its); }
// expect: x must have as many columns as the layer has inputs
void input_of_another_layer() { backward(linear, square, narrow, square, linear_gradient); }
// expect: x must have as many columns as the layer has inputs
void input_of_another_norm() { backward(norm, narrow, narrow, narrow, norm_gradient); }
// expect: a backward pass needs weights of floats: int8 weights have no gradient
void gradient_of_int8_weights() { backward(int8_linear, square, square, square, int8_gradient); }
void gradient_of_int8_projections() { backward(int8_feed_forward, x, x, out, int8_hidden_gradient, hidden_workspace); }
// expect: only a Philox4x32 replays dropout: a Mersenne twister cannot go back
void mersenne_twister_in_a_decoder() { decoder.forward(x, out, decoder_workspace, generator); }
void mersenne_twister_with_a_number_of_tokens() { static_cast<void>(decoder.forward(x, 3, out, decoder_workspace, generator)); }
void mersenne_twister_in_a_model() { static_cast<void>(model.forward(tokens, logits, model_workspace, generator)); }
void mersenne_twister_backward(BackwardWorkspace<Decoder>& passes) { backward(decoder, x, x, out, no_gradient, passes, generator); }
void mersenne_twister_backward_with_a_mask(BackwardWorkspace<Decoder>& passes) {
  backward(decoder, x, KeepMask{bools}, x, out, no_gradient, passes, generator);
}
void mersenne_twister_backward_in_a_model(BackwardWorkspace<Model>& passes) {
  static_cast<void>(backward(model, tokens, logits, no_gradient, no_gradient, passes, generator));
}
void mersenne_twister_in_attention(BackwardWorkspace<Layer>& passes) { backward(layer, x, x, out, no_gradient, passes, generator); }
void mersenne_twister_in_attention_with_a_mask(BackwardWorkspace<Layer>& passes) {
  backward(layer, x, KeepMask{bools}, x, out, no_gradient, passes, generator);
}
// expect: a training pass takes the Workspace of the module, or its BackwardWorkspace
void workspace_of_a_layer(Philox4x32& philox) { decoder.forward(x, out, workspace, philox); }
// expect: the workspace of a backward pass must be the BackwardWorkspace of the module
void workspace_of_forward() { backward(feed_forward, x, x, out, hidden_gradient, feed_forward_workspace); }
// expect: backward takes (module, input, output_gradient, input_gradient, gradient)
void backward_into_temporary() { backward(linear, x, narrow, Matrix<float, 6, 4>{}, linear_gradient); }
void backward_without_workspace() { backward(feed_forward, x, x, out, hidden_gradient); }

// --- Functions ---

// expect: columns of a must equal rows of b
void gradients_of_no_product() { matmul_backward(x, x, out, x, x); }
// expect: matmul_backward takes (a, b, output_gradient, a_gradient, b_gradient)
void one_gradient_of_a_product() { matmul_backward(square, x, out, square); }
// expect: a and b must have the same shape, or one must be a row for the other's rows
void gradients_of_no_sum() { add_backward(x, narrow, out, x, narrow); }
// expect: the gradient of an output must have the shape of the output
void gradients_of_another_sum() { add_backward(x, x, narrow, out, no_gradient); }
// expect: the gradient of an input must have the shape of the input, or be no_gradient
void gradient_of_a_row_in_a_matrix(Vector<float, 4>& row) { multiply_backward(x, row, x, no_gradient, out); }
// expect: the gradient of a number must be no_gradient
void gradient_of_a_number(float& gradient) { multiply_backward(x, 2.0f, x, out, gradient); }
// expect: add_backward takes (a, b, output_gradient, a_gradient, b_gradient)
void one_gradient_of_a_sum() { add_backward(1, x, x, out); }
// expect: multiply_backward takes (a, b, output_gradient, a_gradient, b_gradient)
void gradients_of_two_numbers() { multiply_backward(2, 3, out, no_gradient, no_gradient); }
// expect: softmax_backward takes (weights, output_gradient, input_gradient)
void softmax_without_gradient() { softmax_backward(x, out); }
// expect: takes (x, output_gradient, input_gradient)
void activation_into_temporary() { gelu_backward(x, x, Matrix<float, 6, 4>{}); }
// expect: largest_backward takes (x, output_gradient, input_gradient), or a count after x
void reduction_into_temporary(Vector<float, 4>& d) { largest_backward(x, d, Matrix<float, 6, 4>{}); }

// --- Training ---

// expect: only a Philox4x32 replays dropout
void dropout_by_a_mersenne_twister() { training.backward(model, tokens, tokens, 1.0f, generator); }
// expect: Training takes (model, tokens, targets), then a factor, then a Philox4x32
void dropout_without_a_factor(Philox4x32& philox) { training.backward(model, tokens, tokens, philox); }
void training_without_targets() { training.backward(model, tokens); }
// expect: a text must have a target for each of its tokens
void fewer_targets(const Vector<Token, 5>& targets) { training.backward(model, tokens, targets); }
// expect: a model of Parts names its input
void training_of_loose_parts(const WithoutInput& parts, Training<WithoutInput, Sgd>& its) { its.backward(parts, x, tokens); }
// expect: the input must be the Input of the model
void training_of_another_input(const WithInput& parts, Training<WithInput, Sgd>& its) { its.backward(parts, square, tokens); }
// expect: layers, blocks and models follow one another: a tensor has no forward
void training_through_a_tensor(const WithGain& parts, Training<WithGain, Sgd>& its) { its.backward(parts, x, tokens); }
