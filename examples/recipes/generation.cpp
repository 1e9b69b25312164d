// SPDX-License-Identifier: MIT
//
// Generation with a cache. A language model reads a prompt, then one token after the other; keys
// and values of these tokens stay in the cache, so that none is computed twice. When the cache is
// full, it is cleared, and the last half of the context is read again.
#include <algorithm>
#include <array>
#include <span>

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
                                            .rotary = Rotary::halves},
                              .feed_forward = {.d_model = 16,
                                               .d_hidden = 24,
                                               .activation = Activation::silu,
                                               .gated = true},
                              .normalization = Normalization::rms},
                    .num_layers = 1},
    .positions = Positions::none};
using Model = LanguageModel<config>;

// All the RAM that generation takes, besides the text.
struct Memory {
  Model::Cache cache;
  Model::Cache::Workspace workspace;
  Vector<float, config.vocabulary> logits;
};
static_assert(sizeof(Memory) <= 2 * 1024);

// Computes the logits of the token after `text`, of which all but the last `unread` tokens are in
// the cache. Returns false, and changes nothing, if `unread` is 0 or more than a context holds, or
// if a token is not in the vocabulary.
static bool read(const Model& model, std::span<const Token> text, std::size_t unread,
                 Memory& memory) {
  auto& [cache, workspace, logits] = memory;
  const auto is_known = [](Token token) { return token < config.vocabulary; };
  if (unread == 0 || unread > Model::context_length) return false;
  if (!std::ranges::all_of(text.last(unread), is_known)) return false;
  if (!cache.has_room(unread)) {
    cache.clear();
    unread = std::max(unread, Model::context_length / 2);
  }
  return model.forward(text.last(unread), cache, logits, workspace) == Status::ok;
}

// Fills `text` after its first `given` tokens, the prompt. The same seed generates the same
// text on every board. Returns false if `text` has no room after the prompt, or if the prompt
// cannot be read: a prompt that is too long is not cut.
static bool write(const Model& model, std::span<Token> text, std::size_t given,
                  Philox4x32 generator, Memory& memory) {
  if (given >= text.size()) return false;
  memory.cache.clear();
  std::size_t unread = given;
  for (std::size_t length = given; length < text.size(); ++length, unread = 1) {
    if (!read(model, text.first(length), unread, memory)) return false;
    text[length] = sample(memory.logits, {.temperature = 0.7f, .top_p = 0.9f}, generator);
  }
  return true;
}

// --- What it shows ---
#include "claims.h"

static void draw(Model& model) {
  Mt19937 generator(123);
  rand(generator, model.token_embedding.weight);
  initialize(model, generator);
}

int main() {
  static Model model;
  static Memory memory, divided;
  draw(model);

  std::array<Token, 20> text = {3, 1, 4}, again = text, other = text;
  claim("twenty tokens, more than two contexts", write(model, text, 3, Philox4x32(7), memory));
  claim("the same seed writes the same",
        write(model, again, 3, Philox4x32(7), memory) && text == again);
  claim("another seed writes something else",
        write(model, other, 3, Philox4x32(8), memory) && text != other);

  claim("an empty prompt is refused: nobody would write its logits",
        !write(model, text, 0, Philox4x32(7), memory));
  claim("a prompt longer than the context is refused, not cut",
        !write(model, text, 9, Philox4x32(7), memory));

  const std::span<const Token> prompt(text.data(), 6);
  memory.cache.clear();
  bool read_all = read(model, prompt, 6, memory);
  for (std::size_t length = 1; length <= 6; ++length)
    read_all = read_all && read(model, prompt.first(length), 1, divided);
  claim("a prompt at once and token by token have the same logits",
        read_all && memory.logits == divided.logits);

  text[5] = config.vocabulary;
  claim("a token that the model does not know is refused", !read(model, prompt, 1, memory));
  claim("and the cache stays as it was", memory.cache.size() == 6);
  claim("and a full one, too", write(model, std::span(again).first(9), 8, Philox4x32(7), memory) &&
                                   !read(model, prompt, 1, memory) && memory.cache.size() == 8);
  return verdict();
}
