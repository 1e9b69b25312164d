// SPDX-License-Identifier: MIT
//
// Training of a model of Parts, whose layers follow one another: as its layers one by one; what is frozen, and what is refused.
#include "tinyattn/training.hpp"

#include "catalogue/gradients.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Attention = MultiHeadAttention<AttentionConfig{
    .d_in = 6, .d_out = 6, .context_length = 4, .num_heads = 2, .dropout = 0.5, .residual_dropout = 0.25}>;
using Block = TransformerBlock<BlockConfig{.attention = {.d_in = 6, .d_out = 6, .context_length = 4, .num_heads = 3, .dropout = 0.25},
                                           .feed_forward = {.d_model = 6, .d_hidden = 5}}>;

struct Pair {
  Linear<6, 6> linear{};
  LayerNorm<6> norm{};
  using Parts = Parameters<&Pair::linear, &Pair::norm>;
  friend constexpr bool operator==(const Pair&, const Pair&) = default;
};
struct Layers {
  using Input = Vector<Token, 4>;

  Embedding<7, 6> embedding{};
  Linear<6, 6> two[2]{};
  Pair pair{};
  Attention attention{};
  Block block{};
  Linear<6, 5> head{};

  friend constexpr bool operator==(const Layers&, const Layers&) = default;
};
struct Model : Layers {
  using Parts = Parameters<&Model::embedding, &Model::two, &Model::pair, &Model::attention, &Model::block, &Model::head>;
};
struct Frozen : Layers {
  using Sequence = Model::Parts;
  using Parts = Parameters<&Frozen::pair, &Frozen::head>;
};

constexpr Layers::Input tokens = vector<Token>({6, 0, 3, 6});
constexpr auto targets = vector<Token>({4, ignore_index, 0, 1});

// Both passes of the layers, one by one, with dropout by a generator.
constexpr float train_by_layers(const Layers& model, Layers& gradient, Philox4x32& generator) {
  Matrix<float, 4, 6> embedded, first, second, third, normal, attended, features;
  Matrix<float, 4, 5> logits;
  Attention::Workspace scratch{};
  Block::Workspace of_block{};
  BackwardWorkspace<Attention> passes{};
  BackwardWorkspace<Block> passes_of_block{};
  static_cast<void>(model.embedding.forward(tokens, embedded));
  model.two[0].forward(embedded, first);
  model.two[1].forward(first, second);
  model.pair.linear.forward(second, third);
  model.pair.norm.forward(third, normal);
  const Philox4x32 before = generator;
  model.attention.forward(normal, attended, scratch, generator);
  const Philox4x32 before_block = generator;
  model.block.forward(attended, features, of_block, generator);
  model.head.forward(features, logits);
  const float loss = cross_entropy(logits, targets, logits, 0.5f);
  backward(model.head, features, logits, features, gradient.head);
  Philox4x32 again = before_block;
  backward(model.block, attended, features, attended, gradient.block, passes_of_block, again);
  backward(model.attention, normal, attended, normal, gradient.attention, passes, before);
  backward(model.pair.norm, third, normal, third, gradient.pair.norm);
  backward(model.pair.linear, second, third, second, gradient.pair.linear);
  backward(model.two[1], first, second, first, gradient.two[1]);
  backward(model.two[0], embedded, first, embedded, gradient.two[0]);
  static_cast<void>(backward(model.embedding, tokens, embedded, no_gradient, gradient.embedding));
  return loss;
}

constexpr void as_its_layers(Check& check) {
  Model model, expected;
  Frozen frozen;
  Draw draw;
  draw(model, expected);
  static_cast<Layers&>(frozen) = model;
  Training<Model, Sgd> training{};
  Training<Frozen, Sgd> some{};
  training.gradient = expected;
  some.gradient.pair = expected.pair;
  some.gradient.head = expected.head;
  Philox4x32 one(5), other(5), another(5);
  const float loss = train_by_layers(model, expected, one);
  check.that(training.backward(model, tokens, targets, 0.5f, other) == loss);
  check.that(some.backward(frozen, tokens, targets, 0.5f, another) == loss);
  check.that(uniform(one, 0.0f, 1.0f) == uniform(other, 0.0f, 1.0f));
  check.that(training.gradient == expected);
  check.that(some.gradient.pair == expected.pair && some.gradient.head == expected.head);
  check.that(some.gradient.two[0] == Linear<6, 6>{} && some.gradient.attention == Attention{} &&
             some.gradient.embedding == Embedding<7, 6>{});
}

// What is refused changes neither the gradient nor the generator.
constexpr void refused(Check& check) {
  Model model, before;
  Draw draw;
  draw(model, before);
  Training<Model, Sgd> training{};
  training.gradient = before;
  Philox4x32 generator(5), same(5);
  const auto refuse = [&](const Layers::Input& text, TokenView its) {
    const float loss = training.backward(model, text, its, 1.0f, generator);
    check.that(loss != loss);
  };
  refuse(vector<Token>({6, 0, 7, 6}), targets);
  refuse(tokens, vector<Token>({4, 5, 0, 1}));
  refuse(tokens, vector<Token>({4, 0, 1}));
  check.that(training.gradient == before && uniform(generator, 0.0f, 1.0f) == uniform(same, 0.0f, 1.0f));
}

const Test tests[] = {
    everywhere("the layers of a model of Parts, one by one; some of them frozen", as_its_layers),
    everywhere("unknown tokens and targets", refused),
};

}  // namespace

int main() { return run(tests); }
