// SPDX-License-Identifier: MIT
//
// Cases of what stands around attention: norms, caches, blocks, language models.
#pragma once

#include "layers.hpp"

#include "tinyattn/language_model.hpp"

#include <cstddef>

namespace tinyattn::one_answer {

// --- Modules, whose parameters are drawn in the order of their members ---

template <std::size_t Dim>
constexpr void draw(Inputs& inputs, LayerNorm<Dim>& norm) noexcept {
  inputs.draw(norm.weight, norm.bias);
}
template <std::size_t Dim>
constexpr void draw(Inputs& inputs, RmsNorm<Dim>& norm) noexcept {
  inputs.draw(norm.weight);
}
template <std::size_t Count, std::size_t Dim>
constexpr void draw(Inputs& inputs, Embedding<Count, Dim>& embedding) noexcept {
  inputs.draw(embedding.weight, 2.0f);
}
template <FeedForwardConfig config>
constexpr void draw(Inputs& inputs, FeedForward<config>& layer) noexcept {
  inputs.draw(layer.up, layer.down);
  if constexpr (config.gated) inputs.draw(layer.gate);
}
template <BlockConfig config>
constexpr void draw(Inputs& inputs, TransformerBlock<config>& block) noexcept {
  draw(inputs, block.attention_norm);
  inputs.draw(block.attention);
  draw(inputs, block.feed_forward_norm);
  draw(inputs, block.feed_forward);
}
template <TransformerConfig config>
constexpr void draw(Inputs& inputs, Transformer<config>& module) noexcept {
  for (auto& block : module.blocks) draw(inputs, block);
  if constexpr (config.final_norm) draw(inputs, module.final_norm);
}
template <LanguageModelConfig config>
constexpr void draw(Inputs& inputs, LanguageModel<config>& model) noexcept {
  draw(inputs, model.token_embedding);
  if constexpr (config.positions == Positions::learned) draw(inputs, model.position_embedding);
  draw(inputs, model.transformer);
  if constexpr (!config.tied) inputs.draw(model.head);
}

// --- Cases ---

template <class Norm, std::size_t Dim>
struct Normalized {
  Norm norm;
  Matrix<float, 3, Dim> x, out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    draw(inputs, norm);
    inputs.draw(x, 4.0f);
    norm.forward(x, out);
    outputs.take("out", out);
  }
};

template <std::size_t Tokens, std::size_t Dim>
struct Sinusoidal {
  constexpr void operator()(Inputs&, auto& outputs) noexcept { outputs.take("out", sinusoidal_positions<Tokens, Dim>()); }
};

template <FeedForwardConfig config, std::size_t Rows>
struct FeedForwardOf {
  FeedForward<config> layer;
  typename FeedForward<config>::Workspace workspace;
  Matrix<float, Rows, config.d_model> x, out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    draw(inputs, layer);
    inputs.draw(x, 2.0f);
    layer.forward(x, out, workspace);
    outputs.take("out", out);
  }
};

// All tokens at once, and again by a cache: the first of them, then the others.
template <class Module, std::size_t Tokens, std::size_t Dim>
struct Cached {
  Module module;
  typename Module::Workspace workspace;
  typename Module::Cache cache;
  typename Module::Cache::Workspace cache_workspace;
  Matrix<float, Tokens, Dim> x, out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    if constexpr (requires { inputs.draw(module); })
      inputs.draw(module);
    else
      draw(inputs, module);
    inputs.draw(x, 2.0f);
    module.forward(x, out, workspace);
    outputs.take("out", out);
    constexpr std::size_t first = Tokens / 2;
    Status status = module.forward(x, first, cache, out, cache_workspace);
    for (std::size_t i = first; status == Status::ok && i < Tokens; ++i) {
      MatrixView<const float, 1, Dim, Dim> token{&x(i, 0)};
      MatrixView<float, 1, Dim, Dim> row{&out(i, 0)};
      status = module.forward(token, cache, row, cache_workspace);
    }
    outputs.take("by a cache", out);
    outputs.take("too many tokens", vector({status == Status::ok ? 0.0f : 1.0f}));
  }
};

template <AttentionConfig config, std::size_t Tokens>
using CachedAttention = Cached<MultiHeadAttention<config>, Tokens, config.d_in>;
template <BlockConfig config, std::size_t Tokens>
using CachedBlock = Cached<TransformerBlock<config>, Tokens, config.feed_forward.d_model>;

// A text of drawn tokens, and one that goes on with what is sampled.
template <LanguageModelConfig config, std::size_t Tokens>
struct Writes {
  using Model = LanguageModel<config>;

  Model model;
  typename Model::Workspace workspace;
  typename Model::Cache cache;
  typename Model::Cache::Workspace cache_workspace;
  Vector<Token, Tokens> tokens;
  Matrix<float, Tokens, config.vocabulary> logits;
  Vector<float, config.vocabulary> last;
  Philox4x32 generator{hidden(123u)};

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    draw(inputs, model);
    for (Token& token : tokens.elements) token = static_cast<Token>(inputs.word() % config.vocabulary);
    Status status = model.forward(tokens, logits, workspace);
    outputs.take("logits", logits);
    status = model.forward(tokens, cache, last, cache_workspace);
    while (status == Status::ok) {
      outputs.take("by a cache", last);
      const Token token = sample(last, {.temperature = 1.5f, .top_k = 5, .top_p = 0.9f}, generator);
      outputs.take("what is left", last);
      outputs.take("token", vector({static_cast<float>(token)}));
      status = model.forward(TokenView(&token, 1), cache, last, cache_workspace);
    }
  }
};

}  // namespace tinyattn::one_answer
