// SPDX-License-Identifier: MIT
//
// An endless text. A language model reads a prompt, then draws token after token. Each attends to a
// window of tokens whose keys and values stay in a ring buffer: no token is computed twice, and
// memory stays constant however long the text becomes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "tinyattn/generate.hpp"
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

// Shaped like Llama. The exporter writes this configuration and its weights from a checkpoint:
// ports/pytorch.
constexpr LanguageModelConfig config = {
    .vocabulary = 24,
    .transformer = {.block = {.attention = {.d_in = 16,
                                            .d_out = 16,
                                            .context_length = 8,
                                            .num_heads = 4,
                                            .num_kv_heads = 2,
                                            .rotary = Rotary::halves,
                                            .window = 8},
                              .feed_forward = {.d_model = 16,
                                               .d_hidden = 24,
                                               .activation = Activation::silu,
                                               .gated = true},
                              .normalization = Normalization::rms},
                    .num_layers = 1},
    .positions = Positions::none};
using Model = LanguageModel<config>;

// All the RAM of generation, besides the text.
struct Memory {
  Model::Cache cache;
  Model::Cache::Workspace workspace;
  Vector<float, config.vocabulary> logits;
};
static_assert(sizeof(Memory) <= 2 * 1024);

// The text of each token. With --tokenizer the exporter writes one that also encodes.
struct Letters {
  static std::string_view piece(Token token) { return {&"abcdefghijklmnopqrstuvwx"[token], 1}; }
};

// Reads `prompt` after what the cache holds, and fills `text` with what follows. The same seed
// generates the same text on every board.
static GenerationResult write(const Model& model, TokenView prompt, std::span<char> text,
                              Philox4x32& generator, Memory& memory) {
  const Generation options = {.sampling = {.temperature = 0.7f, .top_p = 0.9f},
                              .max_tokens = text.size()};
  std::size_t size = 0;
  const auto put = [&](std::string_view letters) {
    for (const char letter : letters) text[size++] = letter;
    return true;
  };
  return generate(model, Letters{}, prompt, options, memory.cache, memory.logits, memory.workspace,
                  generator, put);
}

// --- What it shows ---
#include "claims.h"

static void draw(Model& model) {
  Mt19937 generator(123);
  initialize(model, generator);
  rand(generator, model.token_embedding.weight);
}

// Writes the beginning of a text.
static bool begin(const Model& model, std::span<char> text, std::uint64_t seed, Memory& memory) {
  constexpr Token prompt[] = {3, 1, 4};
  Philox4x32 generator(seed);
  memory.cache.clear();
  return write(model, prompt, text, generator, memory).end == GenerationEnd::max_tokens;
}

int main() {
  static Model model;
  static Memory memory;
  draw(model);

  std::array<char, 20> text{}, again{}, other{};
  claim("twenty tokens, more than two windows", begin(model, text, 7, memory));
  claim("the same seed writes the same", begin(model, again, 7, memory) && text == again);
  claim("another seed writes something else", begin(model, other, 8, memory) && text != other);

  constexpr Token prompt[] = {3, 1, 4}, answer[] = {1, 5};
  std::array<char, 10> half{};
  Philox4x32 generator(7);
  memory.cache.clear();
  write(model, prompt, half, generator, memory);
  claim("a text goes on where it ended", write(model, {}, half, generator, memory) ==
                                                 GenerationResult{GenerationEnd::max_tokens, 10} &&
                                             memory.cache.size() == 23);
  claim("with the same letters", std::ranges::equal(half, std::span(text).last(10)));
  claim("and with another prompt, in a conversation",
        write(model, answer, half, generator, memory).end == GenerationEnd::max_tokens &&
            memory.cache.size() == 35);

  constexpr Token unknown[] = {1, config.vocabulary};
  claim("a token that the model does not know is refused",
        write(model, unknown, half, generator, memory).end == GenerationEnd::unknown_token);
  claim("and the cache stays as it was", memory.cache.size() == 35);
  return verdict();
}
