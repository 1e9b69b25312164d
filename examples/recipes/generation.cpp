// SPDX-License-Identifier: MIT
//
// Generation with a cache. A language model reads a prompt, then one token after the other; keys
// and values of what it has read stay in the cache, so that a token costs the same however long the
// text is. When the cache is full, the last half of a context is read again.
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

// All the RAM that generation takes, beside the text.
struct Memory {
  Model::Cache cache;
  Model::Cache::Workspace workspace;
  Vector<float, config.vocabulary> logits;
};
static_assert(sizeof(Memory) <= 2 * 1024);

// Logits of the token behind `text`, of which the cache has read all but the last `unread` tokens.
// More unread tokens than a context holds are too many: a prompt is not cut.
static Status read(const Model& model, std::span<const Token> text, std::size_t unread,
                   Memory& memory) {
  auto& [cache, workspace, logits] = memory;
  const Status status = model.forward(text.last(unread), cache, logits, workspace);
  if (status != Status::too_many_tokens) return status;
  cache.clear();
  const std::size_t read_again = std::max(unread, Model::context_length / 2);
  return model.forward(text.last(read_again), cache, logits, workspace);
}

// Fills `text` behind its first `given` tokens. The same seed writes the same text, on every board.
static Status write(const Model& model, std::span<Token> text, std::size_t given,
                    Philox4x32 generator, Memory& memory) {
  memory.cache.clear();
  std::size_t unread = given;
  for (std::size_t length = given; length < text.size(); ++length, unread = 1) {
    const Status status = read(model, text.first(length), unread, memory);
    if (status != Status::ok) return status;
    text[length] = sample(memory.logits, {.temperature = 0.7f, .top_p = 0.9f}, generator);
  }
  return Status::ok;
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
  claim("twenty tokens, more than two contexts",
        write(model, text, 3, Philox4x32(7), memory) == Status::ok);
  claim("the same seed writes the same",
        write(model, again, 3, Philox4x32(7), memory) == Status::ok && text == again);
  claim("another seed writes something else",
        write(model, other, 3, Philox4x32(8), memory) == Status::ok && text != other);

  claim("a prompt longer than the context is refused, not cut",
        write(model, text, 9, Philox4x32(7), memory) == Status::too_many_tokens);

  const std::span<const Token> prompt(text.data(), 6);
  memory.cache.clear();
  bool read_all = read(model, prompt, 6, memory) == Status::ok;
  for (std::size_t length = 1; length <= 6; ++length)
    read_all = read_all && read(model, prompt.first(length), 1, divided) == Status::ok;
  claim("a prompt at once and token by token have the same logits",
        read_all && memory.logits == divided.logits);

  text[5] = config.vocabulary;
  claim("a token that the model does not know is refused",
        read(model, prompt, 1, memory) == Status::unknown_token);
  claim("and the cache stays as it was", memory.cache.size() == 6);
  return verdict();
}
