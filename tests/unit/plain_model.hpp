// SPDX-License-Identifier: MIT
//
// Norms, feed-forward layers, blocks and language models in plain loops, over whole sequences; modules that are filled from a seed; and
// calls with a cache that are compared with one call for all tokens.
#pragma once

#include "plain_layer.hpp"
#include "tinyattn/language_model.hpp"

namespace tinyattn::test {

constexpr float plain_sum_of_squares(std::size_t count, auto element) noexcept {
  std::array<float, 16> lanes{};
  for (std::size_t j = 0; j < count; ++j) lanes[j % 16] = fma(element(j), element(j), lanes[j % 16]);
  return plain_sum(16, [&](std::size_t lane) { return lanes[lane]; });
}

constexpr float plain_inverse_deviation(float sum, std::size_t dim, float epsilon) noexcept {
  return 1.0f / sqrt(fma(sum, 1.0f / static_cast<float>(dim), epsilon));
}

template <std::size_t Rows, std::size_t Dim>
constexpr Matrix<float, Rows, Dim> plain_norm(const Matrix<float, Rows, Dim>& x, const LayerNorm<Dim>& norm) noexcept {
  Matrix<float, Rows, Dim> out{};
  for (std::size_t i = 0; i < Rows; ++i) {
    const float mean = plain_sum(Dim, [&](std::size_t j) { return x(i, j); }) * (1.0f / static_cast<float>(Dim));
    const float squares = plain_sum_of_squares(Dim, [&](std::size_t j) { return x(i, j) - mean; });
    const float scale = plain_inverse_deviation(squares, Dim, norm.epsilon);
    for (std::size_t j = 0; j < Dim; ++j) out(i, j) = fma((x(i, j) - mean) * scale, norm.weight(j), norm.bias(j));
  }
  return out;
}

template <std::size_t Rows, std::size_t Dim>
constexpr Matrix<float, Rows, Dim> plain_norm(const Matrix<float, Rows, Dim>& x, const RmsNorm<Dim>& norm) noexcept {
  Matrix<float, Rows, Dim> out{};
  for (std::size_t i = 0; i < Rows; ++i) {
    const float scale = plain_inverse_deviation(plain_sum_of_squares(Dim, [&](std::size_t j) { return x(i, j); }), Dim, norm.epsilon);
    for (std::size_t j = 0; j < Dim; ++j) out(i, j) = x(i, j) * scale * norm.weight(j);
  }
  return out;
}

// Of one number, by the functions that activation.cpp holds to the truth.
constexpr float plain_activation(Activation activation, float x) noexcept {
  const Vector<float, 1> m{{x}};
  switch (activation) {
    case Activation::relu:
      return relu(m)(0);
    case Activation::gelu:
      return gelu(m)(0);
    case Activation::gelu_tanh:
      return gelu_tanh(m)(0);
    case Activation::silu:
      return silu(m)(0);
  }
  return 0.0f;
}

template <FeedForwardConfig config, std::size_t Rows>
constexpr auto plain_forward(const FeedForward<config>& layer, const Matrix<float, Rows, config.d_model>& x) noexcept {
  auto hidden_features = plain_linear(x, layer.up);
  if constexpr (config.gated) {
    const auto gates = plain_linear(x, layer.gate);
    for (std::size_t i = 0; i < gates.size(); ++i) hidden_features.data()[i] *= plain_activation(config.activation, gates.data()[i]);
  } else {
    for (float& element : hidden_features.elements) element = plain_activation(config.activation, element);
  }
  return plain_linear(hidden_features, layer.down);
}

constexpr auto plain_sum_of(auto a, const auto& b) noexcept {
  for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] += b.data()[i];
  return a;
}

template <BlockConfig config, std::size_t Tokens>
constexpr auto plain_forward(const TransformerBlock<config>& block, Matrix<float, Tokens, config.feed_forward.d_model> x,
                             auto sees) noexcept {
  const auto attend = [&](const auto& m) { return plain_forward(block.attention, m, m, m, sees).out; };
  if constexpr (config.norm_first) {
    x = plain_sum_of(x, attend(plain_norm(x, block.attention_norm)));
    return plain_sum_of(x, plain_forward(block.feed_forward, plain_norm(x, block.feed_forward_norm)));
  } else {
    x = plain_norm(plain_sum_of(x, attend(x)), block.attention_norm);
    return plain_norm(plain_sum_of(x, plain_forward(block.feed_forward, x)), block.feed_forward_norm);
  }
}

template <TransformerConfig config, std::size_t Tokens>
constexpr auto plain_forward(const Transformer<config>& transformer, Matrix<float, Tokens, config.block.feed_forward.d_model> x,
                             auto sees) noexcept {
  for (const auto& block : transformer.blocks) x = plain_forward(block, x, sees);
  if constexpr (config.final_norm) {
    return plain_norm(x, transformer.final_norm);
  } else {
    return x;
  }
}

// Blocks and transformers with no mask but their own.
template <class Module>
constexpr auto plain_outputs(const Module& module, const auto& x) noexcept {
  if constexpr (requires { Module::kv_width; }) {
    return plain_forward(module, x).out;
  } else {
    return plain_forward(module, x, sees_the_past);
  }
}

template <LanguageModelConfig config, std::size_t Tokens>
constexpr Matrix<float, Tokens, config.vocabulary> plain_logits(const LanguageModel<config>& model,
                                                                const Vector<Token, Tokens>& tokens) noexcept {
  constexpr std::size_t d_model = config.transformer.block.feed_forward.d_model;
  constexpr std::size_t context_length = config.transformer.block.attention.context_length;
  Matrix<float, Tokens, d_model> x{};
  for (std::size_t i = 0; i < Tokens; ++i) {
    for (std::size_t j = 0; j < d_model; ++j) {
      x(i, j) = model.token_embedding.weight(tokens(i), j);
      if constexpr (config.positions == Positions::learned) x(i, j) += model.position_embedding.weight(i, j);
      if constexpr (config.positions == Positions::sinusoidal) x(i, j) += sinusoidal_positions<context_length, d_model>()(i, j);
    }
  }
  x = plain_forward(model.transformer, x, sees_the_past);
  if constexpr (config.tied) {
    return plain_matmul_transposed(x, model.token_embedding.weight);
  } else {
    return plain_linear(x, model.head);
  }
}

// --- Modules that owe nothing to the library's generators ---

template <std::size_t Dim>
constexpr void fill(LayerNorm<Dim>& norm, std::uint32_t seed) noexcept {
  norm.weight = numbers<Vector<float, Dim>>(seed);
  norm.bias = numbers<Vector<float, Dim>>(seed + 1000);
}
template <std::size_t Dim>
constexpr void fill(RmsNorm<Dim>& norm, std::uint32_t seed) noexcept {
  norm.weight = numbers<Vector<float, Dim>>(seed);
}
template <FeedForwardConfig config>
constexpr void fill(FeedForward<config>& layer, std::uint32_t seed) noexcept {
  fill(layer.up, seed);
  if constexpr (config.gated) fill(layer.gate, seed + 1);
  fill(layer.down, seed + 2);
}
template <BlockConfig config>
constexpr void fill(TransformerBlock<config>& block, std::uint32_t seed) noexcept {
  fill(block.attention_norm, seed);
  block.attention = filled<MultiHeadAttention<config.attention>>(seed + 10);
  fill(block.feed_forward_norm, seed + 20);
  fill(block.feed_forward, seed + 30);
}
template <TransformerConfig config>
constexpr void fill(Transformer<config>& transformer, std::uint32_t seed) noexcept {
  for (auto& block : transformer.blocks) fill(block, seed += 100);
  if constexpr (config.final_norm) fill(transformer.final_norm, seed + 50);
}
template <LanguageModelConfig config>
constexpr void fill(LanguageModel<config>& model, std::uint32_t seed) noexcept {
  using Model = LanguageModel<config>;
  model.token_embedding.weight = numbers<decltype(Model::TokenEmbedding::weight)>(seed);
  if constexpr (config.positions == Positions::learned)
    model.position_embedding.weight = numbers<decltype(Model::PositionEmbedding::weight)>(seed + 1);
  fill(model.transformer, seed + 2);
  if constexpr (!config.tied) fill(model.head, seed + 3);
}

template <class Module>
constexpr Module made(std::uint32_t seed) noexcept {
  if constexpr (requires { Module::kv_width; }) {
    return filled<Module>(seed);
  } else {
    Module module{};
    fill(module, seed);
    return module;
  }
}

// --- Calls with a cache ---

// Whatever stood in a scratch or a cache before a call, here NaN, does not matter.
constexpr void poison(auto& floats) noexcept {
  for (float& element : floats) element = quiet_nan;
}

// Every cut: what comes before it in one call and what follows in another, or token by token, is `expected`, which is one call for all;
// then there is no more room, which is said, and nothing is written. Between two tests a cache is cleared only.
template <class Module, std::size_t Tokens, std::size_t In, std::size_t Out>
void check_divided(Check& check, const Module& module, const Matrix<float, Tokens, In>& x, const Matrix<float, Tokens, Out>& expected) {
  static Guarded<typename Module::Cache> cache;
  static Guarded<typename Module::Cache::Workspace> workspace;
  static Guarded<Matrix<float, Tokens, Out>> out;
  const auto call = [&](std::size_t first, std::size_t count, Status status) {
    const MatrixView<const float, Tokens, In, In> from{x.data() + first * In};
    MatrixView<float, Tokens, Out, Out> to{out.tensor.data() + first * Out};
    poison(workspace.tensor.scratch);
    check.that(module.forward(from, count, cache.tensor, to, workspace.tensor) == status);
  };
  for (std::size_t cut = 0; cut <= Tokens; ++cut) {
    for (const std::size_t step : {Tokens, std::size_t{1}}) {
      cache.tensor.clear();
      out = {};
      call(0, cut, Status::ok);
      check.equal(cache.tensor.size(), cut);
      for (std::size_t i = cut * Out; i < Tokens * Out; ++i) check.equal(out.tensor.data()[i], out.untouched);
      for (std::size_t i = cut; i < Tokens; i += step) call(i, step < Tokens - i ? step : Tokens - i, Status::ok);
      check.same_bits(out.tensor, expected);
    }
  }
  static typename Module::Cache before;
  before = cache.tensor;
  call(0, 1, Status::too_many_tokens);
  check.same_bits(out.tensor, expected);
  check.that(__builtin_memcmp(&before, &cache.tensor, sizeof before) == 0);
  cache.tensor.clear();
  call(0, Tokens + 1, Status::too_many_tokens);
  check.that(cache.tensor.size() == 0 && cache.guards_hold() && workspace.guards_hold() && out.guards_hold());
}

}  // namespace tinyattn::test
