// SPDX-License-Identifier: MIT
//
// The model that train.py trains, and the memory that it writes to.
#pragma once

#include <cstddef>
#include <type_traits>

#include "tinyattn/tinyattn.hpp"
#include "weights.hpp"

namespace writer {

using tinyattn::Token;

inline constexpr auto& tokenizer = weights::tokenizer;
inline constexpr std::size_t vocabulary_size = tokenizer.vocabulary;
inline constexpr Token beginning = *weights::begin_of_text;  // each text begins after this piece

// Whether there is a piece for the character; only some ASCII characters have one.
constexpr bool is_known(char character) {
  Token tokens[4] = {};  // a byte that is no character takes three
  std::size_t count = 0;
  return tokenizer.encode({&character, 1}, tokens, count) == tinyattn::Status::ok && tokens[0] != tokenizer.sizes.unknown;
}

using Logits = tinyattn::Vector<float, vocabulary_size>;

// All memory that a model writes to, of a size known at compile time.
template <class Model>
struct MemoryOf {
  typename Model::Cache cache;
  typename Model::Cache::Workspace workspace;
  Logits logits;
};

using Model = std::remove_const_t<decltype(weights::model)>;
using Memory = MemoryOf<Model>;
static_assert(sizeof(Memory) <= 11 * 1024, "a micro:bit has 16 KB for it, for the arguments and for the stack");

template <tinyattn::LanguageModelConfig config>
constexpr tinyattn::LanguageModelConfig config_of(const tinyattn::LanguageModel<config>&) {
  return config;
}
inline constexpr tinyattn::LanguageModelConfig config = config_of(weights::model);
inline constexpr std::size_t window = config.transformer.block.attention.window;

}  // namespace writer
