// SPDX-License-Identifier: MIT
//
// The calls that are measured for the pages of the documentation, one for each row, in the form in
// which the firmware of tests/footprint calls a layer. The comment of a row shows its call.
#pragma once

#include "tinyattn/compiled.hpp"
#include "tinyattn/tinyattn.hpp"

namespace tinyattn::footprint {

template <auto config>
struct Firmware;

enum class Row {
  transpose,
  matmul,
  softmax,
  exp,
  tanh,
  erf,
  relu,
  gelu,
  gelu_tanh,
  silu,
  unmasked,
  keep_mask,
  additive_mask,
  philox,
  mersenne,
  dropout,
  linear,
  positions,
  compiled,
  cached,
  layer_norm,
  rms_norm,
  feed_forward,
  embedding,
  block,
  argmax,
  sample
};

struct None {};

template <class L, class I, class O, class W = None>
struct Call {
  using Layer = L;
  using Input = I;
  using Output = O;
  using Workspace = W;
};

using Square = Matrix<float, 32, 32>;
using Tokens = Matrix<float, 16, 32>;
inline constexpr AttentionConfig small_layer{
    .d_in = 32, .d_out = 32, .context_length = 16, .num_heads = 4};
inline constexpr FeedForwardConfig small_part{.d_model = 32, .d_hidden = 128};

// transpose(m, out): m is [32, 32]
template <>
struct Firmware<Row::transpose> : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept { transpose(m, out); }
};

// matmul(a, b, out): a is [16, 32], b [32, 32]
template <>
struct Firmware<Row::matmul> : Call<Square, Tokens, Tokens> {
  static void call(const Square& b, const Tokens& a, Tokens& out, None&) noexcept {
    matmul(a, b, out);
  }
};

// softmax(m, out): m is [32, 32]
template <>
struct Firmware<Row::softmax> : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept { softmax(m, out); }
};

// Calls f for each element.
template <float (*f)(float) noexcept>
struct Elementwise : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept {
    for (std::size_t i = 0; i < m.size(); ++i) out.elements[i] = f(m.elements[i]);
  }
};

// tinyattn::exp(x): of 1,024 numbers
template <>
struct Firmware<Row::exp> : Elementwise<tinyattn::exp> {};

// tinyattn::tanh(x): of 1,024 numbers
template <>
struct Firmware<Row::tanh> : Elementwise<tinyattn::tanh> {};

// tinyattn::erf(x): of 1,024 numbers
template <>
struct Firmware<Row::erf> : Elementwise<tinyattn::erf> {};

// relu(m, out): m is [32, 32]
template <>
struct Firmware<Row::relu> : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept { relu(m, out); }
};

// gelu(m, out): m is [32, 32]
template <>
struct Firmware<Row::gelu> : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept { gelu(m, out); }
};

// gelu_tanh(m, out): m is [32, 32]
template <>
struct Firmware<Row::gelu_tanh> : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept { gelu_tanh(m, out); }
};

// silu(m, out): m is [32, 32]
template <>
struct Firmware<Row::silu> : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept { silu(m, out); }
};

// scaled_dot_product_attention(q, k, v, NoMask{}, out): each is [16, 32]
template <>
struct Firmware<Row::unmasked> : Call<None, Tokens, Tokens> {
  static void call(const None&, const Tokens& x, Tokens& out, None&) noexcept {
    scaled_dot_product_attention(x, x, x, NoMask{}, out);
  }
};

// scaled_dot_product_attention(q, k, v, keep_mask, out): each is [16, 32], the mask [16, 16]
template <>
struct Firmware<Row::keep_mask> : Call<KeepMask<16, 16>, Tokens, Tokens> {
  static void call(const Layer& mask, const Tokens& x, Tokens& out, None&) noexcept {
    scaled_dot_product_attention(x, x, x, mask, out);
  }
  static void prepare(Layer& mask) noexcept {
    for (std::size_t i = 0; i < mask.tensor.size(); ++i) mask.tensor.elements[i] = i % 2 == 0;
  }
};

// scaled_dot_product_attention(q, k, v, additive_mask, out): each is [16, 32], the mask [16, 16]
template <>
struct Firmware<Row::additive_mask> : Call<AdditiveMask<16, 16>, Tokens, Tokens> {
  static void call(const Layer& mask, const Tokens& x, Tokens& out, None&) noexcept {
    scaled_dot_product_attention(x, x, x, mask, out);
  }
};

// rand(generator, out): out is [32, 32], from a Philox4x32
template <>
struct Firmware<Row::philox> : Call<None, None, Square> {
  static void call(const None&, const None&, Square& out, None&) noexcept {
    Philox4x32 generator(123);
    rand(generator, out);
  }
};

// rand(generator, out): out is [32, 32], from an Mt19937 that is seeded for it
template <>
struct Firmware<Row::mersenne> : Call<None, None, Square> {
  static void call(const None&, const None&, Square& out, None&) noexcept {
    Mt19937 generator(123);
    rand(generator, out);
  }
};

// dropout(m, 0.125, generator, out): m is [32, 32], by a Philox4x32
template <>
struct Firmware<Row::dropout> : Call<None, Square, Square> {
  static void call(const None&, const Square& m, Square& out, None&) noexcept {
    Philox4x32 generator(123);
    dropout(m, 0.125, generator, out);
  }
};

// linear.forward(x, out): x is [16, 32], the weight [32, 32], with a bias
template <>
struct Firmware<Row::linear> : Call<Linear<32, 32>, Tokens, Tokens> {
  static void call(const Layer& linear, const Tokens& x, Tokens& out, None&) noexcept {
    linear.forward(x, out);
  }
};

// out = sinusoidal_positions<16, 32>(): a table in flash, which is copied
template <>
struct Firmware<Row::positions> : Call<None, None, Tokens> {
  static void call(const None&, const None&, Tokens& out, None&) noexcept {
    out = sinusoidal_positions<16, 32>();
  }
};

// compiled::forward(layer, x, 16, out, workspace): x is [16, 32], 4 heads; with the library
template <>
struct Firmware<Row::compiled> {
  using Layer = MultiHeadAttention<small_layer>;
  using Workspace = Layer::Workspace;
  using Input = Tokens;
  using Output = Tokens;
  static void call(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept {
    static_cast<void>(compiled::forward(layer, x, 16, out, workspace));
  }
};

// layer.forward(x, cache, out, workspace): one token of 32 features, 4 heads, the first of up to 16
template <>
struct Firmware<Row::cached> {
  using Layer = MultiHeadAttention<small_layer>;
  struct Workspace {
    Layer::Cache cache;
    Layer::Cache::Workspace scratch;
  };
  using Input = Matrix<float, 1, 32>;
  using Output = Input;
  static void call(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept {
    static_cast<void>(layer.forward(x, workspace.cache, out, workspace.scratch));
  }
};

// norm.forward(x, out): LayerNorm<32>, x is [16, 32]
template <>
struct Firmware<Row::layer_norm> : Call<LayerNorm<32>, Tokens, Tokens> {
  static void call(const Layer& norm, const Tokens& x, Tokens& out, None&) noexcept {
    norm.forward(x, out);
  }
  static void prepare(Layer& norm) noexcept { norm.epsilon = 1e-5f; }
};

// norm.forward(x, out): RmsNorm<32>, x is [16, 32]
template <>
struct Firmware<Row::rms_norm> : Call<RmsNorm<32>, Tokens, Tokens> {
  static void call(const Layer& norm, const Tokens& x, Tokens& out, None&) noexcept {
    norm.forward(x, out);
  }
  static void prepare(Layer& norm) noexcept { norm.epsilon = 1e-5f; }
};

// part.forward(x, out, workspace): 32 features, 128 hidden ones, gelu; x is [16, 32]
template <>
struct Firmware<Row::feed_forward>
    : Call<FeedForward<small_part>, Tokens, Tokens, FeedForward<small_part>::Workspace> {
  static void call(const Layer& part, const Tokens& x, Tokens& out, Workspace& workspace) noexcept {
    part.forward(x, out, workspace);
  }
};

// embedding.forward(tokens, out): 16 tokens of a vocabulary of 60, 32 features
template <>
struct Firmware<Row::embedding> : Call<Embedding<60, 32>, Vector<Token, 16>, Tokens> {
  static void call(const Layer& embedding, const Input& tokens, Output& out, None&) noexcept {
    static_cast<void>(embedding.forward(tokens, out));
  }
};

using SmallBlock =
    TransformerBlock<BlockConfig{.attention = small_layer, .feed_forward = small_part}>;

// block.forward(x, out, workspace): 32 features, 4 heads, 128 hidden features; x is [16, 32]
template <>
struct Firmware<Row::block> : Call<SmallBlock, Tokens, Tokens, SmallBlock::Workspace> {
  static void call(const Layer& block, const Tokens& x, Tokens& out,
                   Workspace& workspace) noexcept {
    block.forward(x, out, workspace);
  }
  static void prepare(Layer& block) noexcept {
    block.attention_norm.epsilon = block.feed_forward_norm.epsilon = 1e-5f;
  }
};

// argmax(logits): of 512 tokens
template <>
struct Firmware<Row::argmax> : Call<None, Vector<float, 512>, Token> {
  static void call(const None&, const Input& logits, Token& token, None&) noexcept {
    token = argmax(logits);
  }
};

// sample(logits, {.temperature = 0.7f, .top_p = 0.9f}, generator): of 512 tokens
template <>
struct Firmware<Row::sample> : Call<Vector<float, 512>, None, Token> {
  static void call(const Layer& logits, const None&, Token& token, None&) noexcept {
    Philox4x32 generator(123);
    token = sample(const_cast<Layer&>(logits), {.temperature = 0.7f, .top_p = 0.9f}, generator);
  }
};

}  // namespace tinyattn::footprint
