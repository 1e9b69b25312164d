// SPDX-License-Identifier: MIT
//
// Operations of a whole model, which reads tokens one by one with a cache, or all in one call.
#pragma once

#include "operations.hpp"
#include "support/stories260k.hpp"
#include "tinyattn/parameters.hpp"

#include <cstddef>

namespace tinyattn::bench {

// int8 weights and caches are macros, so that older checkouts without them can be compared, too.
constexpr LanguageModelConfig measured_config() {
  LanguageModelConfig config = stories260k;
  config.transformer.block.feed_forward.d_hidden = TINYATTN_BENCH_HIDDEN;
#ifdef TINYATTN_BENCH_WEIGHTS
  config.weights = Weights::TINYATTN_BENCH_WEIGHTS;
  config.transformer.block.attention.weights = config.transformer.block.feed_forward.weights = config.weights;
#endif
#ifdef TINYATTN_BENCH_CACHE
  config.transformer.block.attention.cache = Weights::TINYATTN_BENCH_CACHE;
#endif
  return config;
}
using Model = LanguageModel<measured_config()>;

template <std::size_t Tokens, class Measured = Model>
struct Token {
  alignas(64) static inline Measured model;
  Vector<tinyattn::Token, Tokens> tokens;

  void prepare() {
    for_each_parameter(model, [](const char*, auto& parameter) { fill(parameter); });
    choose_tokens();
  }

  void choose_tokens() {
    for (std::size_t i = 0; i < Tokens; ++i) tokens(i) = static_cast<tinyattn::Token>(i * 7 % stories260k.vocabulary);
  }

  void compute() const {
    alignas(64) static Model::Cache cache;
    alignas(64) static Model::Cache::Workspace workspace;
    alignas(64) static Vector<float, stories260k.vocabulary> logits;
    cache.clear();
    for (const auto& token : tokens.elements)
      if (model.forward(TokenView(&token, 1), cache, logits, workspace) != Status::ok) __builtin_trap();
  }
};

// Computes the logits of every token.
template <std::size_t Tokens>
struct Prompt : Token<Tokens> {
  void compute() const {
    alignas(64) static Model::Workspace workspace;
    alignas(64) static Matrix<float, Tokens, stories260k.vocabulary> logits;
    if (this->model.forward(this->tokens, logits, workspace) != Status::ok) __builtin_trap();
  }
};

template <class Measured>
struct Memory {
  alignas(64) typename Measured::Cache cache;
  alignas(64) typename Measured::Cache::Workspace workspace;
  alignas(64) Vector<float, stories260k.vocabulary> logits;
};

// The last token that fits into the cache.
template <std::size_t Tokens, class Measured = Model>
struct Full : Token<Tokens, Measured> {
  static inline Memory<Measured> memory;

  void prepare() {
    Token<Tokens, Measured>::prepare();
    read(0, Tokens - 1);
  }
  void compute() const { read(Tokens - 1, Tokens); }

  void read(std::size_t first, std::size_t end) const {
    auto& [cache, workspace, logits] = memory;
    for (std::size_t i = first; i < end; ++i)
      if (this->model.forward(TokenView(&this->tokens(i), 1), cache, logits, workspace) != Status::ok) __builtin_trap();
  }
};

constexpr auto with_window(auto config, std::size_t window) {
  config.transformer.block.attention.window = window;
  return config;
}

// Tokens after a full window, one for each row of its ring.
template <std::size_t Tokens>
struct Window : Full<Tokens, LanguageModel<with_window(measured_config(), Tokens)>> {
  void compute() const { this->read(0, Tokens); }
};

}  // namespace tinyattn::bench
