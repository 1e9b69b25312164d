// SPDX-License-Identifier: MIT
//
// The model that train.py trains, and how a text goes on for longer than the model's context.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "constants.hpp"
#include "tinyattn/tinyattn.hpp"

#ifdef WRITER_F32  // the program writer_f32
#include "weights_f32.hpp"
namespace weights = weights_f32;
#elif defined(WRITER_INT8)  // the program writer_int8
#include "weights_int8.hpp"
namespace weights = weights_int8;
#else
#include "weights.hpp"
#endif

namespace writer {

using tinyattn::Token;
using Model = std::remove_const_t<decltype(weights::model)>;

inline constexpr std::size_t vocabulary_size = sizeof vocabulary - 1;
inline constexpr std::size_t width = Model::d_model;
inline constexpr std::size_t num_layers = std::extent_v<decltype(weights::model.transformer.blocks)>;

// The types of the weights, and of the keys and values in the cache.
template <tinyattn::LanguageModelConfig config>
constexpr tinyattn::LanguageModelConfig config_of(const tinyattn::LanguageModel<config>&) {
  return config;
}
inline constexpr tinyattn::LanguageModelConfig config = config_of(weights::model);
inline constexpr tinyattn::Weights stored = config.weights, cached = config.transformer.block.attention.cache;

using Logits = tinyattn::Vector<float, vocabulary_size>;

// All memory that the model writes to. Its size is known when the program is compiled.
struct Memory {
  Model::Cache cache;
  Model::Cache::Workspace workspace;
  Logits logits;
};
static_assert(sizeof(Memory) <= (cached == tinyattn::Weights::int8 ? 4 : 12) * 1024,
              "a micro:bit has 16 KB for it, for the text and for the stack");

inline constexpr std::size_t read_again = Model::context_length / 2;

// Computes the logits of the character after `text`, of which all but the last `unread` tokens are in the cache. If the cache has
// no room for these, clears it, and reads the last `read_again` tokens of the text again.
constexpr tinyattn::Status read(std::span<const Token> text, std::size_t unread, Memory& memory) {
  auto& [cache, workspace, logits] = memory;
  const tinyattn::Status status = weights::model.forward(text.last(unread), cache, logits, workspace);
  if (status != tinyattn::Status::too_many_tokens) return status;
  cache.clear();
  return weights::model.forward(text.last(read_again), cache, logits, workspace);
}

// Returns the token of a character; vocabulary_size if there is none.
constexpr std::size_t token_of(char character) {
  std::size_t token = 0;
  while (token < vocabulary_size && vocabulary[token] != character) ++token;
  return token;
}

// A prompt, and the tokens that the model has added.
template <std::size_t Longest>
class Passage {
 public:
  constexpr void add(Token token) { tokens_[length_++] = token; }
  // Every character must be in the vocabulary.
  constexpr void add(std::string_view characters) {
    for (const char character : characters) add(static_cast<Token>(token_of(character)));
  }
  constexpr std::span<const Token> tokens() const { return {tokens_.data(), length_}; }

 private:
  std::array<Token, Longest> tokens_{};
  std::size_t length_ = 0;
};

}  // namespace writer
