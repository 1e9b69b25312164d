// SPDX-License-Identifier: MIT
//
// A language model of 46,992 weights with grouped heads and rotary positions, on a text of `Tokens` tokens: all logits, and both passes of
// training.
#pragma once

#include "operations.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/training.hpp"

#include <cstddef>

namespace tinyattn::bench {

inline constexpr std::size_t width = 48, most_tokens = 48, vocabulary = 60;
inline constexpr BlockConfig block{
    .attention = {.d_in = width,
                  .d_out = width,
                  .context_length = most_tokens,
                  .num_heads = 6,
                  .out_bias = false,
                  .num_kv_heads = 1,
                  .rotary = Rotary::halves},
    .feed_forward = {.d_model = width, .d_hidden = 64, .activation = Activation::silu, .gated = true, .bias = false},
    .normalization = Normalization::rms};
using Trained = LanguageModel<LanguageModelConfig{
    .vocabulary = vocabulary, .transformer = {.block = block, .num_layers = 3}, .positions = Positions::none}>;

template <std::size_t Tokens>
struct Infer {
  alignas(64) static inline Trained model;
  Vector<Token, Tokens> tokens, targets;

  void prepare() {
    for_each_parameter(model, [](const char*, auto& parameter) { fill(parameter); });
    for (std::size_t i = 0; i < Tokens; ++i) {
      tokens(i) = static_cast<Token>(i * 7 % vocabulary);
      targets(i) = static_cast<Token>((i + 1) * 7 % vocabulary);
    }
  }
  void compute() const {
    alignas(64) static Trained::Workspace workspace;
    alignas(64) static Matrix<float, Tokens, vocabulary> logits;
    if (model.forward(tokens, logits, workspace) != Status::ok) __builtin_trap();
  }
};

template <std::size_t Tokens>
struct Learn : Infer<Tokens> {
  void compute() const {
    alignas(64) static Training<Trained, Sgd> training;
    if (!(training.backward(this->model, this->tokens, this->targets) > 0.0f)) __builtin_trap();
  }
};

}  // namespace tinyattn::bench
