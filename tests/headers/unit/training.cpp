// SPDX-License-Identifier: MIT
//
// Training: models of Parts compared with their layers one by one; blocks and texts, with dropout, in each form of a call; frozen parts and
// refused calls. A model is trained as a whole or by its adapters.
#include "tinyattn/training.hpp"

#include "catalogue/adapters.hpp"
#include "forms.hpp"

namespace tinyattn::test { namespace {

constexpr bool is_nan(float x) { return x != x; }
constexpr bool next_are_equal(Philox4x32 a, Philox4x32 b) { return uniform(a, 0.0f, 1.0f) == uniform(b, 0.0f, 1.0f); }

// --- Models of Parts ---

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

constexpr auto tokens = vector<Token>({6, 0, 3, 6});
constexpr auto targets = vector<Token>({4, ignore_index, 0, 1});

// Both passes through the layers, one by one, with dropout.
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
  check.that(next_are_equal(one, other));
  check.that(training.gradient == expected);
  check.that(some.gradient.pair == expected.pair && some.gradient.head == expected.head);
  check.that(some.gradient.two[0] == Linear<6, 6>{} && some.gradient.attention == Attention{} &&
             some.gradient.embedding == Embedding<7, 6>{});
}

// A refused call changes neither the gradient nor the generator.
constexpr void refused(Check& check) {
  Model model, before;
  Draw draw;
  draw(model, before);
  Training<Model, Sgd> training{};
  training.gradient = before;
  Philox4x32 generator(5), same(5);
  const auto refuse = [&](const Layers::Input& text, TokenView its) {
    check.that(is_nan(training.backward(model, text, its, 1.0f, generator)));
  };
  refuse(vector<Token>({6, 0, 7, 6}), targets);
  refuse(tokens, vector<Token>({4, 5, 0, 1}));
  refuse(tokens, vector<Token>({4, 0, 1}));
  check.that(training.gradient == before && next_are_equal(generator, same));
}

// --- Blocks and language models ---

// How a model is trained: as a whole, or by its adapters.
template <class Model>
struct Subject {
  using OfTraining = Training<Model, Sgd>;
  using Workspace = typename Model::Workspace;

  static constexpr const Model& through(const Model& model) { return model; }
  static constexpr auto backward(OfTraining& training, const Model& model, auto&&... rest) { return training.backward(model, rest...); }
};
template <class Model, LoraConfig lora>
struct Subject<WithAdapters<Model, lora>> {
  using OfTraining = Training<Model, Sgd, Adapters<Model, lora>>;
  using Workspace = typename Model::Workspace;

  static constexpr auto through(const WithAdapters<Model, lora>& both) { return adapted(both.layer, both.adapters); }
  static constexpr auto backward(OfTraining& training, const WithAdapters<Model, lora>& both, auto&&... rest) {
    return training.backward(both.layer, both.adapters, rest...);
  }
};

constexpr LoraConfig all_projections{.rank = 2, .key = true, .output = true, .up = true, .down = true};
constexpr BlockConfig small_block(DropoutRate of_weights, DropoutRate of_outputs, bool norm_first, bool causal) {
  return {
      .attention = {.d_in = 2, .d_out = 2, .context_length = 3, .causal = causal, .dropout = of_weights, .residual_dropout = of_outputs},
      .feed_forward = {.d_model = 2, .d_hidden = 2},
      .norm_first = norm_first};
}
template <BlockConfig config>
using TwoBlocks = Transformer<TransformerConfig{.block = config, .num_layers = 2}>;

// Runs both passes in every form: forward with the workspaces of inference and of training, backward with Training.
template <class Module, class X>
struct Passes {
  using Of = Subject<Module>;
  Guarded<X> out, d_x;
  decltype(Of::OfTraining::gradient) gradient{};

  constexpr Passes(Check& check, const Module& module, const X& x, const X& d_out, Philox4x32& generator, const auto&... form) {
    typename Of::Workspace workspace;
    typename Of::OfTraining training{};
    X same = out.tensor;
    Philox4x32 again = generator, of_training = generator;
    const auto& model = Of::through(module);
    static_cast<void>(model.forward(x, form..., out.tensor, workspace, generator));
    static_cast<void>(model.forward(x, form..., same, training.workspace, again));
    static_cast<void>(Of::backward(training, module, x, form..., d_out, d_x.tensor, of_training));
    check.same_bits(same, out.tensor);
    check.that(next_are_equal(again, generator) && next_are_equal(of_training, generator) && out.guards_hold() && d_x.guards_hold());
    gradient = training.gradient;
  }
};

// Checks that the first elements equal `head`, and that the others are untouched.
template <class X>
constexpr void check_head(Check& check, const X& actual, const auto& head) {
  for (std::size_t i = 0; i < actual.size(); ++i)
    check.same_bits(actual.elements[i], i < head.size() ? head.elements[i] : Guarded<X>::untouched);
}

// A batch equals its sequences one after the other; a count equals a shorter sequence; a causal mask equals a causal module.
template <class Module, class OfCausal>
constexpr void check_dropout(Check& check) {
  using X = Matrix<float, 3, 2>;
  const auto module = drawn<Module>(1);
  const auto x = drawn<X>(2), y = drawn<X>(3), d_out = drawn<X>(4);
  const Philox4x32 before(opaque(123u));
  Philox4x32 generator = before, of_batch = before, of_mask = before, of_causal = before, of_few = before, of_count = before;
  const Passes<Module, X> first(check, module, x, d_out, generator), second(check, module, y, d_out, generator);
  const Passes<Module, Tensor<float, 2, 3, 2>> batch(check, module, stack(x, y), stack(d_out, d_out), of_batch);
  check.same_bits(batch.out.tensor, stack(first.out.tensor, second.out.tensor));
  check.same_bits(batch.d_x.tensor, stack(first.d_x.tensor, second.d_x.tensor));
  check.that(next_are_equal(of_batch, generator));

  const Passes<Module, X> masked(check, module, x, d_out, of_mask, Causal{});
  const Passes<OfCausal, X> causal(check, drawn<OfCausal>(1), x, d_out, of_causal);
  check.same_bits(masked.out.tensor, causal.out.tensor);
  check.same_bits(masked.d_x.tensor, causal.d_x.tensor);

  const Matrix<float, 2, 2> few{{x(0, 0), x(0, 1), x(1, 0), x(1, 1)}}, few_d{{d_out(0, 0), d_out(0, 1), d_out(1, 0), d_out(1, 1)}};
  const Passes<Module, Matrix<float, 2, 2>> shorter(check, module, few, few_d, of_few);
  const auto long_x = with_rest(x, 2, quiet_nan), long_d = with_rest(d_out, 2, quiet_nan);
  const Passes<Module, X> counted(check, module, long_x, long_d, of_count, opaque(std::size_t{2}));
  check.that(counted.gradient == shorter.gradient && next_are_equal(of_count, of_few));
  check_head(check, counted.out.tensor, shorter.out.tensor);
  check_head(check, counted.d_x.tensor, shorter.d_x.tensor);
  const Passes<Module, X> all(check, module, x, d_out, of_count = before, opaque(std::size_t{3}));
  check.same_bits(all.d_x.tensor, first.d_x.tensor);

  const Passes<Module, X> too_many(check, module, x, d_out, of_mask = before, opaque(std::size_t{4}));
  check.that(too_many.gradient == decltype(too_many.gradient){} && next_are_equal(of_mask, before));
  check.same_bits(too_many.out.tensor, full<float, 3, 2>(Guarded<X>::untouched));
  check.same_bits(too_many.d_x.tensor, full<float, 3, 2>(Guarded<X>::untouched));
}

template <DropoutRate of_weights, DropoutRate of_outputs, bool norm_first>
constexpr void check_block(Check& check) {
  check_dropout<TransformerBlock<small_block(of_weights, of_outputs, norm_first, false)>,
                TransformerBlock<small_block(of_weights, of_outputs, norm_first, true)>>(check);
}

// So many tokens that the logits of a whole text do not fit.
constexpr std::size_t vocabulary = 97;
constexpr LanguageModelConfig dropped_model = {
    .vocabulary = vocabulary,
    .transformer = {
        .block = {.attention = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .dropout = 0.5, .residual_dropout = 0.1},
                  .feed_forward = {.d_model = 4, .d_hidden = 5}},
        .num_layers = 2}};

using Text = LanguageModel<dropped_model>;
static_assert(BackwardWorkspace<Text>::logits_rows < 4);
constexpr auto unknown = vector<Token>({1, vocabulary, 2, 3});

// A training pass has the loss of forward's logits. Refused texts, and targets that are all ignored, change nothing.
template <class Module>
void check_text(Check& check) {
  using Of = Subject<Module>;
  static Module module;
  static typename Of::OfTraining training;
  static typename Of::Workspace of_inference;
  Draw draw;
  draw(module);
  const Philox4x32 before(opaque(123u));
  Philox4x32 after = before, replay = before;
  const float loss = Of::backward(training, module, tokens, targets, 1.0f, after);
  const auto gradient = training.gradient;
  Matrix<float, 4, vocabulary> logits;
  const auto check_forward = [&](auto& workspace) {
    Philox4x32 generator = before;
    check.that(Of::through(module).forward(tokens, logits, workspace, generator) == Status::ok);
    check.same_bits(cross_entropy(logits, targets), loss);
    check.that(next_are_equal(generator, after));
  };
  check_forward(of_inference);
  check_forward(training.workspace);
  const auto check_refused = [&](TokenView text, TokenView its) {
    check.that(is_nan(Of::backward(training, module, text, its)));
    check.that(training.gradient == gradient);
  };
  check_refused(unknown, targets);
  check_refused(tokens, unknown);
  check_refused(vector<Token>({1, 2}), vector<Token>({1, 2, 3}));
  check_refused(full<Token, 6>(1), full<Token, 6>(1));
  check_refused(vector<Token>({1, 2}), full<Token, 2>(ignore_index));
  check_refused({}, {});
  check.that(is_nan(Of::backward(training, module, unknown, targets, 1.0f, replay)));
  check.that(training.gradient == gradient && next_are_equal(replay, before));
  check.that(Of::through(module).forward(unknown, logits, of_inference, replay) == Status::unknown_token);
  check.that(next_are_equal(replay, before));
}

// Any loss, given by the gradient of the logits.
void check_any_loss(Check& check) {
  static Training<Text, Sgd> training;
  static Text model, gradient;
  Draw draw;
  draw(model);
  const Philox4x32 before(opaque(123u));
  Philox4x32 after = before, replay = before;
  static_cast<void>(training.backward(model, tokens, targets, 1.0f, after));
  Matrix<float, 4, vocabulary> logits;
  check.that(model.forward(tokens, logits, training.workspace, replay) == Status::ok);
  cross_entropy(logits, targets, logits);
  check.that(backward(model, tokens, logits, no_gradient, gradient, training.workspace, replay = before) == Status::ok);
  check.that(gradient == training.gradient && next_are_equal(replay, after));
  check.that(backward(model, tokens, logits, no_gradient, no_gradient, training.workspace) == Status::ok);
  check.that(backward(model, unknown, logits, no_gradient, gradient, training.workspace, replay) == Status::unknown_token);
  check.that(gradient == training.gradient && next_are_equal(replay, after));
}

constexpr Test tests[] = {
    everywhere("the layers of a model of Parts, one by one; some of them frozen", as_its_layers),
    everywhere("unknown tokens and targets", refused),
    everywhere("dropout of blocks, in each form of a call", each_of<check_block<0.5, 0.25, true>, check_block<0.0, 0.5, false>>),
    at_run_time("the same of transformers, of their adapters, and at rates of 0 and 1",
                [](Check& check) {
                  using Two = TwoBlocks<small_block(0.5, 0.25, true, false)>;
                  using TwoCausal = TwoBlocks<small_block(0.5, 0.25, true, true)>;
                  check_dropout<Two, TwoCausal>(check);
                  check_dropout<WithAdapters<Two, all_projections>, WithAdapters<TwoCausal, all_projections>>(check);
                  check_block<1.0, 0.5, true>(check);
                  check_block<0.0, 0.0, true>(check);
                }),
    at_run_time("a text: forward has its loss; what is refused, or does not count", check_text<Text>),
    at_run_time("the same by adapters", check_text<WithAdapters<Text, all_projections>>),
    at_run_time("a text, by the gradient of its logits", check_any_loss),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
