// SPDX-License-Identifier: MIT
//
// Whole models, which only this library computes here.
#pragma once

#include "operations.hpp"

#include "tinyattn/language_model.hpp"

#include <cstddef>

namespace tinyattn::bench {

// A decoder like llama2.c's: rotary positions, grouped key heads, SwiGLU, a tied head. Reads all its `Tokens` tokens, one after the other,
// with a cache.
template <std::size_t Tokens, std::size_t Vocabulary, std::size_t DModel, std::size_t NumLayers, std::size_t NumHeads,
          std::size_t NumKvHeads, std::size_t DHidden, std::size_t ContextLength>
struct Token {
  using Model = LanguageModel<LanguageModelConfig{
      .vocabulary = Vocabulary,
      .transformer =
          {.block = {.attention = {.d_in = DModel,
                                   .d_out = DModel,
                                   .context_length = ContextLength,
                                   .num_heads = NumHeads,
                                   .out_bias = false,
                                   .num_kv_heads = NumKvHeads,
                                   .rotary = Rotary::interleaved},
                     .feed_forward = {.d_model = DModel, .d_hidden = DHidden, .activation = Activation::silu, .gated = true, .bias = false},
                     .normalization = Normalization::rms},
           .num_layers = NumLayers},
      .positions = Positions::none}>;

  alignas(64) static inline Model model;  // one for all rows: boards have no room for two
  tinyattn::Vector<tinyattn::Token, Tokens> tokens;

  void prepare() {
    Philox4x32 generator(Tokens);
    initialize(model, generator);
    fill(model.token_embedding.weight);
    for (std::size_t i = 0; i < Tokens; ++i) tokens(i) = static_cast<tinyattn::Token>(i * 7 % Vocabulary);
  }

  void compute() const {
    alignas(64) static typename Model::Cache cache;
    alignas(64) static typename Model::Cache::Workspace workspace;
    alignas(64) static tinyattn::Vector<float, Vocabulary> logits;
    cache.clear();
    for (const auto& token : tokens.elements)
      if (model.forward(TokenView(&token, 1), cache, logits, workspace) != Status::ok) __builtin_trap();
  }
};

// Reads the same tokens in one call, with the logits of every token.
template <std::size_t Tokens, std::size_t Vocabulary, std::size_t... Sizes>
struct Prompt : Token<Tokens, Vocabulary, Sizes...> {
  using Base = Token<Tokens, Vocabulary, Sizes...>;

  void compute() const {
    alignas(64) static typename Base::Model::Workspace workspace;
    alignas(64) static Matrix<float, Tokens, Vocabulary> logits;
    if (Base::model.forward(Base::tokens, logits, workspace) != Status::ok) __builtin_trap();
  }
};

}  // namespace tinyattn::bench
