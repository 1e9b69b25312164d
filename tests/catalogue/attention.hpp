// SPDX-License-Identifier: MIT
//
// Cases of attention: the function and its layers.
#pragma once

#include "draw.hpp"
#include "guarded.hpp"
#include "library.hpp"

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

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw.draw(query, 4.0f);
    draw(key, value, mask);
    by.attention(query, key, value, mask, weights.tensor, out.tensor);
    outputs.take("out", out);
    if (by.has_weights) outputs.take("weights", weights);
  }
};

// A layer and what it is called with; tokens of a batch, or of none: [Tokens, Width] or [Batch, Tokens, Width].
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

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw_inputs(draw);
    by.forward(layer, x, out.tensor, workspace.tensor);
    outputs.take("out", out);
    outputs.check_guards(workspace);
  }
};

template <AttentionConfig config, std::size_t... Tokens>
using ForwardOf = Forward<MultiHeadAttention<config>, config.d_in, config.d_out, Tokens...>;

// The steps of attention as operations of their own, and then the layer: the first that differs says where.
template <AttentionConfig config, std::size_t Tokens>
struct StepByStep : ForwardOf<config, Tokens> {
  Matrix<float, Tokens, config.d_out> query, key, value;
  Matrix<float, Tokens, Tokens> scores;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    auto& result = this->out.tensor;
    by.norm(this->layer.query, this->x, query);
    outputs.take("query", query);
    by.norm(this->layer.key, this->x, key);
    outputs.take("key", key);
    by.norm(this->layer.value, this->x, value);
    outputs.take("value", value);
    by.matmul_transposed(query, key, scores);
    outputs.take("scores", scores);
    masked_fill(scores, triu(ones<bool, Tokens, Tokens>(), 1), -infinity, scores);
    by.softmax(scores, detail::inverse_sqrt<config.d_out>, scores);
    outputs.take("weights", scores);
    by.matmul(scores, value, result);
    outputs.take("context", result);
    const auto context = result;
    by.norm(this->layer.out_proj, context, result);
    outputs.take("output projection", result);
    by.forward(this->layer, this->x, result, this->workspace.tensor);
    outputs.take("layer", result);
  }
};

template <AttentionConfig config, class Mask, std::size_t... Tokens>
struct ForwardMasked : ForwardOf<config, Tokens...> {
  Mask mask;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw(mask);
    by.forward_masked(this->layer, this->x, mask, this->out.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    outputs.check_guards(this->workspace);
  }
};

template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens>
struct CrossForward : ForwardOf<config, Tokens> {
  Matrix<float, SourceTokens, config.d_in> key_input, value_input;
  Guarded<Tensor<float, config.num_heads, Tokens, SourceTokens>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw.draw(key_input, 2.0f);
    draw(value_input);
    by.cross(this->layer, this->x, key_input, value_input, NoMask{}, this->out.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    by.cross_with_weights(this->layer, this->x, key_input, value_input, weights.tensor, this->out.tensor, this->workspace.tensor);
    outputs.take("out beside weights", this->out);
    outputs.take("weights", weights);
    outputs.check_guards(this->workspace);
  }
};

template <AttentionConfig config, std::size_t Tokens>
struct ForwardWithWeights : ForwardOf<config, Tokens> {
  Guarded<Tensor<float, config.num_heads, Tokens, Tokens>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    by.forward_with_weights(this->layer, this->x, weights.tensor, this->out.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    outputs.take("weights", weights);
    outputs.check_guards(this->workspace);
  }
};

constexpr Vector<float, 1> too_many_tokens(Status status) noexcept { return vector({status == Status::ok ? 0.0f : 1.0f}); }

// No token, one, all of them, and one too many: rows that nobody writes keep what they held.
template <AttentionConfig config, std::size_t Tokens>
struct ForwardOfSomeTokens : ForwardOf<config, Tokens> {
  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    for (const std::size_t num_tokens : {std::size_t{0}, std::size_t{1}, Tokens - 1, Tokens, Tokens + 1}) {
      this->out.tensor = full<float, Tokens, config.d_out>(12345.678f);
      const Status status = by.forward_some(this->layer, this->x, hidden(num_tokens), this->out.tensor, this->workspace.tensor);
      outputs.take("out", this->out);
      outputs.take("too many tokens", too_many_tokens(status));
    }
  }
};

template <AttentionConfig config, class Generator, std::size_t... Tokens>
struct TrainingPass : ForwardOf<config, Tokens...> {
  Generator generator{hidden(123u)};

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    by.train(this->layer, this->x, generator, this->out.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    by.train(this->layer, this->x, generator, this->out.tensor, this->workspace.tensor);
    outputs.take("out of the next pass", this->out);
    outputs.check_guards(this->workspace);
  }
};

// The parameters as they are drawn, in the order in which they are drawn.
template <AttentionConfig config, class Generator>
struct Initialize {
  Generator generator{hidden(123u)};
  MultiHeadAttention<config> layer;

  constexpr void operator()(Draw&, auto, auto& outputs) noexcept {
    initialize(layer, generator);
    outputs.take("query.weight", layer.query.weight);
    outputs.take("query.bias", layer.query.bias);
    outputs.take("key.weight", layer.key.weight);
    outputs.take("value.weight", layer.value.weight);
    outputs.take("out_proj.weight", layer.out_proj.weight);
    outputs.take("out_proj.bias", layer.out_proj.bias);
  }
};

// After the causal mask of the first rows, and before it in the others.
template <std::size_t Tokens, std::size_t Dim>
struct AttentionNotFinite {
  Matrix<float, Tokens, Dim> query, key, value, out;
  Matrix<float, Tokens, Tokens> weights;

  void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(query, key, value);
    key(Tokens / 2, 1) = quiet_nan;
    value(Tokens - 1, 0) = infinity;
    by.attention(query, key, value, Causal{}, weights, out);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

}  // namespace tinyattn::test
