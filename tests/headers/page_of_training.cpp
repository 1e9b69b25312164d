// SPDX-License-Identifier: MIT
//
// Runs the code of the training pages, as page_code.py extracts it: what it trains learns, and repeats bit for bit.
#include "support/check.hpp"
#include "training.md.inc"
#include "training_recipes.md.inc"

namespace {

using namespace tinyattn::test;

// Four texts; each token determines the next.
constexpr auto texts = [] {
  struct Texts {
    Text of[4];
  } drawn{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 17; ++j) drawn.of[i](j) = static_cast<Token>((7 * i + 3 * j) % 60);
  return drawn;
}();

float train_writer(std::uint64_t seed, int steps) {
  training = {};
  start(seed);
  Philox4x32 generator(seed);
  float loss = 0.0f;
  for (int i = 0; i < steps; ++i) loss = learn(texts.of, generator);
  return loss;
}

const Base& drawn_base() {
  static Base base;
  Philox4x32 generator(3);
  static MultiHeadAttention<AttentionConfig{.d_in = 48, .d_out = 48, .context_length = 32, .num_heads = 6}> layer;
  initialize(layer, generator);
  Embedding<60, 48> embedding;
  initialize(embedding, generator);
  base.token_embedding = quantize(embedding);
  initialize(base.transformer.final_norm, generator);
  for (auto& block : base.transformer.blocks) {
    initialize(block.attention_norm, generator);
    initialize(block.feed_forward_norm, generator);
    block.attention.query = quantize(layer.query);
    block.attention.key = quantize(layer.key);
    block.attention.value = quantize(layer.value);
    block.attention.out_proj = quantize(layer.out_proj);
  }
  return base;
}

constexpr Test tests[] = {
    at_run_time("a last layer learns a sample, and its first loss is log(10)",
                [](Check& check) {
                  static Matrix<float, 1, 256> features;
                  Philox4x32 generator(1);
                  rand(generator, features);
                  head = {};
                  const float first = learn(features, 7);
                  float last = first;
                  for (int i = 0; i < 20; ++i) last = learn(features, 7);
                  check.that(first > 2.302f && first < 2.303f && last < 0.1f);
                }),
    at_run_time("a model learns its texts from nothing, and the same seed gives the same bits",
                [](Check& check) {
                  const float first = train_writer(1, 1), last = train_writer(1, 60);
                  static const Writer before = writer;
                  check.that(last < 0.5f * first && train_writer(1, 60) == last && writer == before);
                  check.that(train_writer(2, 60) != last);
                }),
    at_run_time("a model of parts learns",
                [](Check& check) {
                  static Classifier model;
                  static Training<Classifier, SgdMomentum> its;
                  static Classifier::Input x;
                  Vector<Token, 20> targets{};
                  Philox4x32 generator(1);
                  initialize(model, generator);
                  rand(generator, x);
                  for (std::size_t i = 0; i < 20; ++i) targets(i) = x(i, 0) > 0.5f ? 1 : 3;
                  const float first = learn(model, its, x, targets);
                  float last = first;
                  for (int i = 0; i < 60; ++i) last = learn(model, its, x, targets);
                  check.that(last < 0.3f * first);
                }),
    at_run_time("adapters learn on a base of int8, which then answers with them",
                [](Check& check) {
                  const Base& base = drawn_base();
                  const TokenView tokens(texts.of[0].data(), 16), targets(texts.of[0].data() + 1, 16);
                  start_tuning(1);
                  const float first = tune(base, tokens, targets);
                  float last = first;
                  for (int i = 0; i < 8; ++i) last = tune(base, tokens, targets);
                  static Base::Cache cache;
                  static Base::Cache::Workspace scratch;
                  static Vector<float, 60> logits;
                  check.that(last < first && ask(base, tokens, cache, logits, scratch) == Status::ok);
                }),
    at_run_time("what was saved is loaded; what was not begins as the original",
                [](Check& check) {
                  static Flash flash;
                  static Saved original, layer, loaded;
                  Philox4x32 generator(1);
                  initialize(original, generator);
                  begin(layer, original, flash);
                  check.that(layer == original);
                  layer.bias(3) = 5.0f;
                  check.that(keep(layer, flash));
                  begin(loaded, original, flash);
                  check.that(loaded == layer);
                }),
    at_run_time("the slope of a loss is its gradient",
                [](Check& check) {
                  static Matrix<float, 1, 256> features;
                  Philox4x32 generator(2);
                  rand(generator, features);
                  initialize(head, generator);
                  const Matrix<float, 1, 10> logits = head(features);
                  zero_grad(gradient);
                  Matrix<float, 1, 10> output_gradient;
                  cross_entropy(logits, Token{4}, output_gradient);
                  backward(head, features, output_gradient, no_gradient, gradient);
                  const float of_bias = slope(head.bias(4), [] { return cross_entropy(head(features), Token{4}); });
                  check.near(of_bias, gradient.bias(4), 1e-3f);
                }),
};

}  // namespace

int main() { return run(tests); }
