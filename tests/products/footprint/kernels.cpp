// SPDX-License-Identifier: MIT
//
// Calls everything else that a firmware may use besides a layer; contents.py checks it for what firmware must not contain.
#include "tinyattn/tinyattn.hpp"

#include <cstddef>

using namespace tinyattn;

namespace {

constexpr AttentionConfig trained{
    .d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4, .qkv_bias = true, .dropout = 0.1, .residual_dropout = 0.1};
using Square = Matrix<float, 32, 32>;
using Tokens = Matrix<float, 32, 64>;
using Layer = MultiHeadAttention<trained>;

}  // namespace

extern "C" {

float one_exp(float value) noexcept { return exp(value); }
float one_sqrt(float value) noexcept { return sqrt(value); }
float one_fma(float a, float b, float c) noexcept { return fma(a, b, c); }
void one_matmul(const Tokens& a, const Matrix<float, 64, 64>& b, Tokens& out) noexcept { matmul(a, b, out); }
void one_matmul_transposed(const Tokens& a, const Tokens& b, Square& out) noexcept { matmul_transposed(a, b, out); }
void one_softmax(const Square& scores, Square& out) noexcept { softmax(scores, out); }
void one_normalize(const Square& scores, Square& out) noexcept { normalize(scores, out); }
void one_attention(const Tokens& query, const Tokens& key, const Tokens& value, Tokens& out) noexcept {
  scaled_dot_product_attention(query, key, value, Causal{}, out);
}
void one_attention_with_a_mask(const Tokens& query, const Tokens& key, const Tokens& value, const BlockMask<32, 32>& mask,
                               Tokens& out) noexcept {
  scaled_dot_product_attention(query, key, value, mask, out);
}
Status one_layer_of_some_tokens(const Layer& layer, const Tokens& x, std::size_t tokens, Tokens& out,
                                Layer::Workspace& workspace) noexcept {
  return layer.forward(x, tokens, out, workspace);
}
void one_training_pass(const Layer& layer, const Tokens& x, Tokens& out, Layer::Workspace& workspace, Philox4x32& generator) noexcept {
  layer.forward(x, out, workspace, generator);
}
void one_training_pass_mt19937(const Layer& layer, const Tokens& x, Tokens& out, Layer::Workspace& workspace, Mt19937& generator) noexcept {
  layer.forward(x, out, workspace, generator);
}
}
