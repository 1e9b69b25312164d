// SPDX-License-Identifier: MIT
//
// Runs the code of the pages for users, which page_code.py extracts, with wrong inputs too.
#include <array>

#include "calling.md.inc"
#include "models.md.inc"
#include "support/check.hpp"

namespace {

using namespace tinyattn::test;

const Model& drawn_model() {
  static Model model;
  Mt19937 generator(123);
  auto& embedding = model.token_embedding.weight;
  rand(generator, embedding);
  for (std::size_t i = 0; i < embedding.size(); ++i) embedding.data()[i] *= 0.1f;  // else each token would follow itself
  initialize(model, generator);
  return model;
}

// Returns what the page's `write` returns for a text whose first `given` tokens are 7, 8, 9 and so on.
template <std::size_t Length>
bool writes(std::size_t given, Token (&text)[Length]) {
  for (std::size_t i = 0; i < given; ++i) text[i] = static_cast<Token>(7 + i % 40);
  return write(drawn_model(), text, given, Philox4x32(7));
}

constexpr std::size_t context = Model::context_length;

constexpr Test tests[] = {
    at_run_time("a text of several contexts is written, and the same seed writes the same",
                [](Check& check) {
                  Token text[3 * context] = {}, again[3 * context] = {};
                  check.that(writes(3, text) && writes(3, again));
                  std::size_t changes = 0;
                  for (std::size_t i = 1; i < 3 * context; ++i) {
                    check.that(text[i] < config.vocabulary && text[i] == again[i]);
                    changes += text[i] != text[i - 1];
                  }
                  check.that(changes > context);
                }),
    at_run_time("a prompt as long as the context is read, and no longer one; an empty one is refused",
                [](Check& check) {
                  Token text[context + 2] = {};
                  check.that(writes(context, text));
                  check.that(!writes(context + 1, text));
                  check.that(!writes(0, text));
                }),
    at_run_time("a token that the model does not know draws nothing, at first and later",
                [](Check& check) {
                  Token text[4] = {1, 2, config.vocabulary}, token = 0xffff;
                  Philox4x32 generator(7);
                  check.that(!write(drawn_model(), text, 3, generator) && text[3] == 0);
                  text[2] = 3;
                  check.that(write(drawn_model(), text, 3, generator));
                  text[3] = 0xffff;
                  check.that(!next(drawn_model(), text, 1, generator, token) && token == 0xffff);
                }),
    at_run_time("all that is unread is read when the cache is full, though it is more than half a context",
                [](Check& check) {
                  Token text[context + 40] = {}, token = 0, alone = 0;
                  Philox4x32 generator(7), same(7);
                  cache.clear();
                  for (std::size_t i = 0; i < context + 40; ++i) text[i] = static_cast<Token>(i % config.vocabulary);
                  check.that(drawn_model().forward(std::span<const Token>(text, context), cache, logits, workspace) == Status::ok);
                  check.that(next(drawn_model(), text, 40, generator, token) && cache.size() == 40);
                  cache.clear();
                  check.that(next(drawn_model(), std::span<const Token>(text).last(40), 40, same, alone) && token == alone);
                }),
    at_run_time("what next refuses leaves a full cache as it was: without it, the text goes on as it would have",
                [](Check& check) {
                  Token text[2 * context] = {}, token = 0, as_ever = 0;
                  check.that(writes(3, text));
                  for (const std::size_t unread : {std::size_t{1}, context + 1}) {
                    Philox4x32 generator(7), same(7);
                    cache.clear();
                    check.that(drawn_model().forward(std::span<const Token>(text, context), cache, logits, workspace) == Status::ok);
                    auto wrong = std::to_array(text);
                    if (unread == 1) wrong[context] = config.vocabulary;
                    const std::span<const Token> read = std::span<const Token>(wrong).first(context + unread);
                    check.that(!next(drawn_model(), read, unread, generator, token) && cache.size() == context);
                    check.that(next(drawn_model(), std::span<const Token>(text, context + 1), 1, generator, token));
                    cache.clear();
                    const std::span<const Token> last_half = std::span<const Token>(text, context + 1).last(context / 2);
                    check.that(next(drawn_model(), last_half, context / 2, same, as_ever) && token == as_ever);
                  }
                }),
    at_run_time("a text without room for more is refused, whatever the prompt",
                [](Check& check) {
                  Token three[3] = {}, longer[context + 6] = {}, unknown[1] = {config.vocabulary};
                  check.that(!writes(3, three) && !writes(context + 6, longer));
                  check.that(!write(drawn_model(), unknown, 1, Philox4x32(7)));
                  check.that(!write(drawn_model(), {}, 0, Philox4x32(7)));
                }),
    at_run_time("a layer is called with floats of one's own",
                [](Check& check) {
                  static Layer layer;
                  static Layer::Workspace scratch;
                  static Matrix<float, 20, 48> x, out;
                  Mt19937 generator(123);
                  rand(generator, x);
                  initialize(layer, generator);
                  attend(layer, x.data(), out.data(), scratch);
                  check.same_bits(out, layer(x));
                }),
};

}  // namespace

int main() { return run(tests); }
