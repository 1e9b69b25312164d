// SPDX-License-Identifier: MIT
//
// Cases of attention: the functions and the layers.
#pragma once

#include "draw.hpp"
#include "guarded.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

#include <cstddef>

namespace tinyattn::test {

template <class Mask, std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
struct Attention {
  Matrix<float, Tokens, KeyDim> query;
  Matrix<float, SourceTokens, KeyDim> key;
  Matrix<float, SourceTokens, ValueDim> value;
  Mask mask;
  Guarded<Matrix<float, Tokens, ValueDim>> out;
  Guarded<Matrix<float, Tokens, SourceTokens>> weights;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw.draw(query, 4.0f);
    draw(key, value, mask);
    scaled_dot_product_attention(query, key, value, mask, out.tensor, weights.tensor);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

// A layer, its input, output and workspace. `Tokens` is a token count, or a batch size and a token count: x is [tokens, DIn] or [batch,
// tokens, DIn].
template <class Layer, std::size_t DIn, std::size_t DOut, std::size_t... Tokens>
struct Forward {
  Layer layer;
  Guarded<typename Layer::Workspace> workspace;
  Tensor<float, Tokens..., DIn> x;
  Guarded<Tensor<float, Tokens..., DOut>> out;

  constexpr void draw_inputs(Draw& draw) noexcept {
    draw(layer);
    draw.draw(x, 2.0f);
  }

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw_inputs(draw);
    compute(outputs);
  }
  constexpr void compute(auto& outputs, const auto&... mask) noexcept {
    layer.forward(x, mask..., out.tensor, workspace.tensor);
    outputs.take("out", out);
    outputs.check_guards(workspace);
  }
};

// A configuration after change(its) of itself and of all its parts.
template <class Config>
constexpr Config changed(Config config, auto change) noexcept {
  change(config);
  if constexpr (requires { config.attention; }) config.attention = changed(config.attention, change);
  if constexpr (requires { config.cross_attention; }) config.cross_attention = changed(config.cross_attention, change);
  if constexpr (requires { config.feed_forward; }) config.feed_forward = changed(config.feed_forward, change);
  if constexpr (requires { config.block; }) config.block = changed(config.block, change);
  if constexpr (requires { config.transformer; }) config.transformer = changed(config.transformer, change);
  return config;
}

// The same layer, block or model with weights of int8, with a cache of int8, or with a window.
template <class Config = AttentionConfig>
constexpr Config in_int8(Config config) noexcept {
  return changed(config, [](auto& its) {
    if constexpr (requires { its.weights; }) its.weights = Weights::int8;
  });
}
template <class Config = AttentionConfig>
constexpr Config with_int8_cache(Config config) noexcept {
  return changed(config, [](auto& its) {
    if constexpr (requires { its.cache; }) its.cache = Weights::int8;
  });
}
template <class Config = AttentionConfig>
constexpr Config with_window(Config config, std::size_t window) noexcept {
  return changed(config, [=](auto& its) {
    if constexpr (requires { its.window; }) its.window = window;
  });
}

constexpr AttentionConfig with_bias_kv(AttentionConfig config, std::size_t count) noexcept {
  config.bias_kv = count;
  return config;
}

template <AttentionConfig config, std::size_t... Tokens>
using ForwardOf = Forward<MultiHeadAttention<config>, config.d_in, config.d_out, Tokens...>;

// Computes attention step by step, one operation for each step, and then by the layer: the first output that differs names the step.
template <AttentionConfig config, std::size_t Tokens>
struct StepByStep : ForwardOf<config, Tokens> {
  Matrix<float, Tokens, config.d_out> query, key, value;
  Matrix<float, Tokens, Tokens> scores;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    auto& result = this->out.tensor;
    this->layer.query.forward(this->x, query);
    outputs.take("query", query);
    this->layer.key.forward(this->x, key);
    outputs.take("key", key);
    this->layer.value.forward(this->x, value);
    outputs.take("value", value);
    matmul_transposed(query, key, scores);
    outputs.take("scores", scores);
    masked_fill(scores, triu(ones<bool, Tokens, Tokens>(), 1), -infinity, scores);
    softmax(scores, detail::inverse_sqrt<config.d_out>, scores);
    outputs.take("weights", scores);
    matmul(scores, value, result);
    outputs.take("context", result);
    const auto context = result;
    this->layer.out_proj.forward(context, result);
    outputs.take("output projection", result);
    this->layer.forward(this->x, result, this->workspace.tensor);
    outputs.take("layer", result);
  }
};

template <AttentionConfig config, class Mask, std::size_t... Tokens>
struct ForwardMasked : ForwardOf<config, Tokens...> {
  Mask mask;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw(mask);
    this->compute(outputs, mask);
  }
};

template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens>
struct CrossForward : ForwardOf<config, Tokens> {
  Matrix<float, SourceTokens, detail::d_key<config>> key_input;
  Matrix<float, SourceTokens, detail::d_value<config>> value_input;
  Guarded<Tensor<float, config.num_heads, Tokens, SourceTokens + config.bias_kv>> weights;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw.draw(key_input, 2.0f);
    draw(value_input);
    this->layer.forward(this->x, key_input, value_input, NoMask{}, this->out.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    this->layer.forward_with_weights(this->x, key_input, value_input, this->out.tensor, weights.tensor, this->workspace.tensor);
    outputs.take("out, with weights", this->out);
    outputs.take("weights", weights);
    outputs.check_guards(this->workspace);
  }
};

template <AttentionConfig config, std::size_t... Tokens>
struct ForwardWithWeights : ForwardOf<config, Tokens...> {
  using X = decltype(ForwardWithWeights::x);
  Guarded<detail::WithHeads<X, config.num_heads, detail::LayoutOf<X>::rows>> weights;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    this->layer.forward_with_weights(this->x, this->out.tensor, weights.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    outputs.take("weights", weights);
    outputs.check_guards(this->workspace);
  }
};

constexpr Vector<float, 1> too_many_tokens(Status status) noexcept { return vector({status == Status::ok ? 0.0f : 1.0f}); }

// Forwards 0, 1, Tokens - 1, Tokens and Tokens + 1 tokens. Rows that a call does not write keep their contents.
template <AttentionConfig config, std::size_t Tokens>
struct ForwardOfSomeTokens : ForwardOf<config, Tokens> {
  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    for (const std::size_t num_tokens : {std::size_t{0}, std::size_t{1}, Tokens - 1, Tokens, Tokens + 1}) {
      this->out.tensor = full<float, Tokens, config.d_out>(12345.678f);
      const Status status = this->layer.forward(this->x, opaque(num_tokens), this->out.tensor, this->workspace.tensor);
      outputs.take("out", this->out);
      outputs.take("too many tokens", too_many_tokens(status));
    }
  }
};

template <AttentionConfig config, class Generator, std::size_t... Tokens>
struct TrainingPass : ForwardOf<config, Tokens...> {
  Generator generator{opaque(123u)};

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    this->layer.forward(this->x, this->out.tensor, this->workspace.tensor, generator);
    outputs.take("out", this->out);
    this->layer.forward(this->x, this->out.tensor, this->workspace.tensor, generator);
    outputs.take("out of the next pass", this->out);
    outputs.check_guards(this->workspace);
  }
};

// Takes the parameters in the order in which `initialize` draws them.
template <AttentionConfig config, class Generator>
struct Initialize {
  Generator generator{opaque(123u)};
  MultiHeadAttention<config> layer;

  constexpr void operator()(Draw&, auto& outputs) noexcept {
    initialize(layer, generator);
    outputs.take("query.weight", layer.query.weight);
    outputs.take("query.bias", layer.query.bias);
    outputs.take("key.weight", layer.key.weight);
    outputs.take("value.weight", layer.value.weight);
    outputs.take("out_proj.weight", layer.out_proj.weight);
    outputs.take("out_proj.bias", layer.out_proj.bias);
  }
};

// NaN in a key and infinity in a value, under the causal mask: only later tokens attend to them.
template <std::size_t Tokens, std::size_t Dim>
struct AttentionNotFinite {
  Matrix<float, Tokens, Dim> query, key, value, out;
  Matrix<float, Tokens, Tokens> weights;

  void operator()(Draw& draw, auto& outputs) noexcept {
    draw(query, key, value);
    key(Tokens / 2, 1) = quiet_nan;
    value(Tokens - 1, 0) = infinity;
    scaled_dot_product_attention(query, key, value, Causal{}, out, weights);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

}  // namespace tinyattn::test
