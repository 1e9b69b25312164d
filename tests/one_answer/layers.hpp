// SPDX-License-Identifier: MIT
//
// Cases of attention: the function and the layers.
#pragma once

#include "inputs.hpp"

#include "tinyattn/attention.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/tensor.hpp"

#include <array>
#include <cstddef>

namespace tinyattn::one_answer {

template <class Mask, std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
struct Attention {
  Matrix<float, Tokens, KeyDim> query;
  Matrix<float, SourceTokens, KeyDim> key;
  Matrix<float, SourceTokens, ValueDim> value;
  Mask mask;
  Matrix<float, Tokens, ValueDim> out;
  Matrix<float, Tokens, SourceTokens> weights;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(query, 4.0f);
    inputs.draw(key, value, mask);
    scaled_dot_product_attention(query, key, value, mask, out, weights);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

// A layer and what it is called with; tokens of a batch, or of none: [Tokens, Width] or [Batch, Tokens, Width].
template <class Layer, std::size_t DIn, std::size_t DOut, std::size_t... Tokens>
struct Forward {
  Layer layer;
  typename Layer::Workspace workspace;
  Tensor<float, Tokens..., DIn> x;
  Tensor<float, Tokens..., DOut> out;

  constexpr Forward& draw_from(Inputs& inputs) noexcept {
    inputs.draw(layer);
    inputs.draw(x, 2.0f);
    return *this;
  }

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    draw_from(inputs);
    layer.forward(x, out, workspace);
    outputs.take("out", out);
  }
};

template <AttentionConfig config, std::size_t... Tokens>
using ForwardOf = Forward<MultiHeadAttention<config>, config.d_in, config.d_out, Tokens...>;

// The steps of attention as operations of their own, and then the layer: the first that differs says where.
template <AttentionConfig config, std::size_t Tokens>
struct StepByStep {
  ForwardOf<config, Tokens> call;
  Matrix<float, Tokens, config.d_out> query, key, value;
  Matrix<float, Tokens, Tokens> scores;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    auto& [layer, workspace, x, out] = call.draw_from(inputs);
    outputs.take("query", query = layer.query(x));
    outputs.take("key", key = layer.key(x));
    outputs.take("value", value = layer.value(x));
    outputs.take("scores", scores = matmul_transposed(query, key));
    softmax(masked_fill(scores, triu(ones<bool, Tokens, Tokens>(), 1), -infinity), detail::inverse_sqrt<config.d_out>, scores);
    outputs.take("weights", scores);
    outputs.take("context", out = matmul(scores, value));
    outputs.take("output projection", out = layer.out_proj(out));
    layer.forward(x, out, workspace);
    outputs.take("layer", out);
  }
};

template <AttentionConfig config, class Mask, std::size_t Tokens>
struct ForwardMasked {
  ForwardOf<config, Tokens> call;
  Mask mask;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    auto& [layer, workspace, x, out] = call.draw_from(inputs);
    inputs.draw(mask);
    layer.forward(x, mask, out, workspace);
    outputs.take("out", out);
  }
};

template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens>
struct CrossForward {
  ForwardOf<config, Tokens> call;
  Matrix<float, SourceTokens, config.d_in> key_input, value_input;
  Tensor<float, config.num_heads, Tokens, SourceTokens> weights;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    auto& [layer, workspace, query_input, out] = call.draw_from(inputs);
    inputs.draw(key_input, 2.0f);
    inputs.draw(value_input);
    layer.forward(query_input, key_input, value_input, out, workspace);
    outputs.take("out", out);
    layer.forward_with_weights(query_input, key_input, value_input, out, weights, workspace);
    outputs.take("out beside weights", out);
    outputs.take("weights", weights);
  }
};

template <AttentionConfig config, std::size_t Tokens>
struct ForwardWithWeights {
  ForwardOf<config, Tokens> call;
  Tensor<float, config.num_heads, Tokens, Tokens> weights;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    auto& [layer, workspace, x, out] = call.draw_from(inputs);
    layer.forward_with_weights(x, out, weights, workspace);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

// No token, one, all of them, and one too many: rows that nobody writes keep what they held.
template <AttentionConfig config, std::size_t Tokens>
struct ForwardOfSomeTokens {
  ForwardOf<config, Tokens> call;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    auto& [layer, workspace, x, out] = call.draw_from(inputs);
    for (const std::size_t num_tokens : std::array<std::size_t, 5>{0, 1, Tokens - 1, Tokens, Tokens + 1}) {
      out = full<float, Tokens, config.d_out>(12345.678f);
      const Status status = layer.forward(x, hidden(num_tokens), out, workspace);
      outputs.take("out", out);
      outputs.take("too many tokens", vector({status == Status::ok ? 0.0f : 1.0f}));
    }
  }
};

template <AttentionConfig config, class Generator, std::size_t... Tokens>
struct TrainingPass {
  ForwardOf<config, Tokens...> call;
  Generator generator{hidden(123u)};

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    auto& [layer, workspace, x, out] = call.draw_from(inputs);
    layer.forward(x, out, workspace, generator);
    outputs.take("out", out);
    layer.forward(x, out, workspace, generator);
    outputs.take("out of the next pass", out);
  }
};

// The parameters as they are drawn, in the order in which they are drawn.
template <AttentionConfig config, class Generator>
struct Initialize {
  Generator generator{hidden(123u)};
  MultiHeadAttention<config> layer;

  constexpr void operator()(Inputs&, auto& outputs) noexcept {
    initialize(layer, generator);
    outputs.take("query.weight", layer.query.weight);
    outputs.take("query.bias", layer.query.bias);
    outputs.take("key.weight", layer.key.weight);
    outputs.take("value.weight", layer.value.weight);
    outputs.take("out_proj.weight", layer.out_proj.weight);
    outputs.take("out_proj.bias", layer.out_proj.bias);
  }
};

// Behind the causal mask of the first rows, and before it in the others.
template <std::size_t Tokens, std::size_t Dim>
struct AttentionNotFinite {
  Matrix<float, Tokens, Dim> query, key, value, out;
  Matrix<float, Tokens, Tokens> weights;

  void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(query, key, value);
    key(Tokens / 2, 1) = not_a_number;
    value(Tokens - 1, 0) = infinity;
    scaled_dot_product_attention(query, key, value, Causal{}, out, weights);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

}  // namespace tinyattn::one_answer
