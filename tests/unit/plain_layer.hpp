// SPDX-License-Identifier: MIT
//
// An attention layer in plain loops: projections of everything, heads copied out and back, weights of full size; and a call of the layer
// that is compared with it.
#pragma once

#include "plain.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace tinyattn::test {

template <std::size_t Rows, std::size_t In, std::size_t Out, bool Bias>
constexpr Matrix<float, Rows, Out> plain_linear(const Matrix<float, Rows, In>& x, const Linear<In, Out, Bias>& layer) noexcept {
  if constexpr (Bias) {
    return plain_matmul(x, layer.weight, layer.bias);
  } else {
    return plain_matmul(x, layer.weight);
  }
}

// What is dropped is +0, whatever it was.
constexpr float plain_drop(float x, float factor) noexcept { return factor == 0.0f ? 0.0f : x * factor; }

// What dropout multiplies weights and outputs with: 0 or 1 / (1 - rate). None when nothing is dropped.
struct NoDrops {
  static constexpr float weight(std::size_t, std::size_t, std::size_t) noexcept { return 1.0f; }
  static constexpr float output(std::size_t, std::size_t) noexcept { return 1.0f; }
};

// Each pair of features of a head turns by an angle that grows with its row.
template <AttentionConfig config, std::size_t Tokens, std::size_t Width>
constexpr Matrix<float, Tokens, Width> plain_rotated(Matrix<float, Tokens, Width> m) noexcept {
  if constexpr (config.rotary != Rotary::none) {
    constexpr std::size_t head_dim = config.d_out / config.num_heads, pairs = head_dim / 2;
    constexpr bool are_neighbours = config.rotary == Rotary::interleaved;
    const auto& table = detail::waves<config.context_length, head_dim, config.rotary_base>;  // held to libm in embedding.cpp
    for (std::size_t i = 0; i < Tokens * (Width / head_dim) * pairs; ++i) {
      const std::size_t pair = i % pairs, row = i / pairs / (Width / head_dim), first = i / pairs % (Width / head_dim) * head_dim;
      float &a = m(row, first + (are_neighbours ? 2 * pair : pair)), &b = m(row, first + (are_neighbours ? 2 * pair + 1 : pair + pairs));
      const float cosine = table.cosines[row * pairs + pair], sine = table.sines[row * pairs + pair], x = a, y = b;
      a = fma(x, cosine, -(y * sine));
      b = fma(x, sine, y * cosine);
    }
  }
  return m;
}

// `sees(i, j)` stands for every mask there is, the layer's own included; `drops` is as NoDrops.
template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens, class Drops = NoDrops>
constexpr auto plain_forward(const MultiHeadAttention<config>& layer, const Matrix<float, Tokens, config.d_in>& query_input,
                             const Matrix<float, SourceTokens, config.d_in>& key_input,
                             const Matrix<float, SourceTokens, config.d_in>& value_input, auto sees, const Drops& drops = {}) noexcept {
  constexpr std::size_t head_dim = config.d_out / config.num_heads;
  Attended<Tensor<float, config.num_heads, Tokens, SourceTokens>, Matrix<float, Tokens, config.d_out>> result{};
  constexpr std::size_t group = config.num_kv_heads == 0 ? 1 : config.num_heads / config.num_kv_heads;
  const auto queries = plain_rotated<config>(plain_linear(query_input, layer.query));
  const auto keys = plain_rotated<config>(plain_linear(key_input, layer.key));
  const auto values = plain_linear(value_input, layer.value);
  Matrix<float, Tokens, config.d_out> contexts{};
  for (std::size_t head = 0; head < config.num_heads; ++head) {
    const std::size_t first = head * head_dim;
    const std::size_t shared = head / group * head_dim;
    auto weights = plain_softmax(plain_matmul_transposed(plain_columns<head_dim>(queries, first), plain_columns<head_dim>(keys, shared)),
                                 plain_scale(head_dim), sees);
    for (std::size_t i = 0; i < Tokens; ++i) {
      for (std::size_t j = 0; j < SourceTokens; ++j) {
        result.weights(head, i, j) = weights(i, j);
        weights(i, j) = plain_drop(weights(i, j), drops.weight(head, i, j));
      }
    }
    const auto context = plain_matmul(weights, plain_columns<head_dim>(values, shared));
    for (std::size_t i = 0; i < Tokens; ++i)
      for (std::size_t j = 0; j < head_dim; ++j) contexts(i, first + j) = context(i, j);
  }
  if constexpr (config.out_proj) {
    result.out = plain_linear(contexts, layer.out_proj);
  } else {
    result.out = contexts;
  }
  for (std::size_t i = 0; i < Tokens; ++i)
    for (std::size_t j = 0; j < config.d_out; ++j) result.out(i, j) = plain_drop(result.out(i, j), drops.output(i, j));
  return result;
}

template <AttentionConfig config>
constexpr auto plain_forward(const MultiHeadAttention<config>& layer, const auto& x) noexcept {
  return plain_forward(layer, x, x, x, [](std::size_t i, std::size_t j) { return !config.causal || j <= i; });
}

// The results of two items are those of their batch.
constexpr auto batch_of(const auto& first, const auto& second) noexcept {
  auto weights = stack(first.weights, second.weights);
  auto out = stack(first.out, second.out);
  return Attended<decltype(weights), decltype(out)>{weights, out};
}

// `layer.forward(inputs..., out, workspace)` makes `expected` of out, and touches nothing beside out and workspace.
template <class Layer>
constexpr void check_forward(Check& check, const auto& expected, const Layer& layer, const auto&... inputs) {
  Guarded<typename Layer::Workspace> workspace;
  check_output(check, expected, [&](auto& out) { layer.forward(hidden(inputs)..., out, workspace.tensor); });
  check.that(workspace.guards_hold());
}

// The same, and with the weights.
template <class Layer>
constexpr void check_forms(Check& check, const auto& expected, const Layer& layer, const auto&... inputs) {
  check_forward(check, expected.out, layer, inputs...);
  Guarded<typename Layer::Workspace> workspace;
  check_outputs(check, expected,
                [&](auto& out, auto& weights) { layer.forward_with_weights(hidden(inputs)..., out, weights, workspace.tensor); });
  check.that(workspace.guards_hold());
}

// Weights and biases that owe nothing to the library's generators.
template <std::size_t In, std::size_t Out, bool Bias>
constexpr void fill(Linear<In, Out, Bias>& layer, std::uint32_t seed) noexcept {
  layer.weight = numbers<Matrix<float, In, Out>>(seed);
  if constexpr (Bias) layer.bias = numbers<Vector<float, Out>>(seed + 1000);
}

template <class Layer>
constexpr Layer filled(std::uint32_t seed) noexcept {
  Layer layer{};
  fill(layer.query, seed);
  fill(layer.key, seed + 1);
  fill(layer.value, seed + 2);
  if constexpr (requires { layer.out_proj.weight; }) fill(layer.out_proj, seed + 3);
  return layer;
}

}  // namespace tinyattn::test
