// SPDX-License-Identifier: MIT
//
// Operations of a whole model. Its tokens are read one after the other with a cache, or all in one call.
#pragma once

#include "operations.hpp"
#include "support/stories260k.hpp"
#include "tinyattn/parameters.hpp"

#include <cstddef>

namespace tinyattn::bench {

// Weights and cache of int8 are macros, so that checkouts without them can stand beside.
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

template <std::size_t Tokens>
struct Token {
  alignas(64) static inline Model model;
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

// With the logits of every token.
template <std::size_t Tokens>
struct Prompt : Token<Tokens> {
  void compute() const {
    alignas(64) static Model::Workspace workspace;
    alignas(64) static Matrix<float, Tokens, stories260k.vocabulary> logits;
    if (this->model.forward(this->tokens, logits, workspace) != Status::ok) __builtin_trap();
  }
};

}  // namespace tinyattn::bench
