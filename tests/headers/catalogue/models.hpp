// SPDX-License-Identifier: MIT
//
// Cases of the modules around attention: norms, caches, blocks and language models.
#pragma once

#include "attention.hpp"
#include "operations.hpp"

#include <cstddef>

namespace tinyattn::test {

template <class Norm, std::size_t Dim>
using Normalized = Computed<Norm, Matrix<float, 3, Dim>, 4>;

template <std::size_t Tokens, std::size_t Dim>
struct Sinusoidal {
  constexpr void operator()(Draw&, auto& outputs) noexcept { outputs.take("out", sinusoidal_positions<Tokens, Dim>()); }
};

template <std::size_t Count, std::size_t Dim, Weights weights, std::size_t Tokens>
struct Embedded {
  Embedding<Count, Dim, weights> embedding;
  Guarded<Matrix<float, Tokens, Dim>> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(embedding);
    Vector<Token, Tokens> tokens{};
    for (Token& token : tokens.elements) token = static_cast<Token>(draw.word() % Count);
    static_cast<void>(embedding.forward(tokens, out.tensor));
    outputs.take("out", out);
  }
};

template <FeedForwardConfig config, std::size_t... Rows>
using FeedForwardOf = Forward<FeedForward<config>, config.d_model, config.d_model, Rows...>;

// A module with a cache.
template <class Module, std::size_t Tokens, std::size_t DIn, std::size_t DOut = DIn>
struct WithCache : Forward<Module, DIn, DOut, Tokens> {
  Guarded<typename Module::Cache> cache;
  Guarded<typename Module::Cache::Workspace> cache_workspace;

  // Computes the first tokens in one call and the rest `step` at a time.
  constexpr Status forward_cached(std::size_t first, std::size_t step) noexcept {
    cache.tensor.clear();
    Status status = this->layer.forward(this->x, first, cache.tensor, this->out.tensor, cache_workspace.tensor);
    for (std::size_t i = first; status == Status::ok && i < Tokens; i += step) {
      const MatrixView<const float, Tokens, DIn, DIn> from{this->x.data() + i * DIn};
      MatrixView<float, Tokens, DOut, DOut> to{this->out.tensor.data() + i * DOut};
      status = this->layer.forward(from, step < Tokens - i ? step : Tokens - i, cache.tensor, to, cache_workspace.tensor);
    }
    return status;
  }
};

// Computes all tokens in one call, and again with a cache: the first half in one call, the others one by one.
template <class Module, std::size_t Tokens, std::size_t DIn, std::size_t DOut = DIn>
struct Cached : WithCache<Module, Tokens, DIn, DOut> {
  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    this->compute(outputs);
    const Status status = this->forward_cached(Tokens / 2, 1);
    outputs.take("by a cache", this->out);
    outputs.take("too many tokens", too_many_tokens(status));
    outputs.check_guards(this->cache, this->cache_workspace);
  }
};

template <AttentionConfig config, std::size_t Tokens>
using CachedAttention = Cached<MultiHeadAttention<config>, Tokens, config.d_in>;
template <BlockConfig config, std::size_t Tokens>
using CachedBlock = Cached<TransformerBlock<config>, Tokens, config.feed_forward.d_model>;

// Calls with a cache only.
template <AttentionConfig config>
struct ByCache : WithCache<MultiHeadAttention<config>, config.context_length, config.d_in> {
  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    take(outputs);
  }

 protected:
  constexpr void take(auto& outputs) noexcept {
    static_cast<void>(this->forward_cached(config.context_length / 2, 1));
    outputs.take("by a cache", this->out);
    outputs.check_guards(this->cache, this->cache_workspace);
  }
};

// Features of any size, one head's keys all 0, queries so small or so large that scores saturate; with weights of int8.
template <AttentionConfig config>
struct ByCacheOfExtremes : ByCache<config> {
  void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    for (float& element : this->x.elements) element = draw.wide_number(17);
    auto& [query, key, value, out_proj, bias_kv] = this->layer;
    for (std::size_t k = 0; k < detail::head_dim<config> * key.weight.row_size; ++k) key.weight.code[k] = 128;
    for (const float power : {0x1p-70f, 0x1p50f, 0x1p20f, 0x1p15f, 0x1p45f}) {  // 2^-70, 2^-20, 1, 2^15, 2^60
      for (float& scale : query.weight.scale) scale *= power;
      this->take(outputs);
    }
  }
};

// A decoder that reads a source: all tokens in one call, and again with a cache, the first half in one call, the others one by one; then
// the first tokens of x and of its source.
template <class Module, std::size_t Tokens, std::size_t SourceTokens, std::size_t Dim>
struct ReadsSource : WithCache<Module, Tokens, Dim> {
  Matrix<float, SourceTokens, Dim> memory;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw(memory);
    this->compute(outputs, memory);
    for (const std::size_t count : {SourceTokens, opaque(SourceTokens / 2)}) {
      static_cast<void>(this->layer.begin(memory, count, this->cache.tensor, this->cache_workspace.tensor));
      const Status status = this->forward_cached(Tokens / 2, 1);
      outputs.take("by a cache", this->out);
      outputs.take("too many tokens", too_many_tokens(status));
    }
    const Status status =
        this->layer.forward(this->x, memory, opaque(Tokens - 1), SourceTokens / 2, this->out.tensor, this->workspace.tensor);
    outputs.take("some tokens", this->out);
    outputs.take("too many tokens", too_many_tokens(status));
    outputs.check_guards(this->cache, this->cache_workspace, this->workspace);
  }
};
template <DecoderBlockConfig config, std::size_t Tokens, std::size_t SourceTokens>
using DecoderOf = ReadsSource<TransformerDecoder<TransformerDecoderConfig{.block = config, .num_layers = 1, .final_norm = false}>, Tokens,
                              SourceTokens, config.feed_forward.d_model>;

// Computes the logits of random tokens, then samples token after token until the cache is full.
template <LanguageModelConfig config, std::size_t Tokens>
struct Writes {
  using Model = LanguageModel<config>;

  Model model;
  Guarded<typename Model::Workspace> workspace;
  Guarded<typename Model::Cache> cache;
  Guarded<typename Model::Cache::Workspace> cache_workspace;
  Vector<Token, config.transformer.block.attention.context_length + 1> tokens;
  Guarded<Matrix<float, Tokens, config.vocabulary>> logits;
  Guarded<Vector<float, config.vocabulary>> last;
  Philox4x32 generator{opaque(123u)};

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(model);
    Vector<Token, Tokens> given{};
    for (std::size_t i = 0; i < Tokens; ++i) given(i) = tokens(i) = static_cast<Token>(draw.word() % config.vocabulary);
    Status status = model.forward(given, logits.tensor, workspace.tensor);
    outputs.take("logits", logits);
    std::size_t count = Tokens;
    status = model.forward(given, cache.tensor, last.tensor, cache_workspace.tensor);
    while (status == Status::ok && count < tokens.size()) {
      outputs.take("by a cache", last);
      tokens(count) = sample(last.tensor, {.temperature = 1.5f, .top_k = 5, .top_p = 0.9f}, generator);
      outputs.take("what is left", last);
      outputs.take("token", vector({static_cast<float>(tokens(count))}));
      status = model.forward(TokenView(&tokens(count++), 1), cache.tensor, last.tensor, cache_workspace.tensor);
    }
    outputs.check_guards(workspace, cache, cache_workspace);
  }
};

}  // namespace tinyattn::test
