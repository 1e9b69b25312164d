// SPDX-License-Identifier: MIT
//
// Adapters: that they are a module, that they change nothing before they are trained, passes as in plain loops, passes through int8
// weights, training, and merging. golden/gradients.cpp has PyTorch's gradients.
#include "tinyattn/adapters.hpp"

#include <string_view>

#include "catalogue/adapters.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr LoraConfig attention_alone{.rank = 4, .alpha = 8};
constexpr LoraConfig high{.rank = 100, .alpha = 50};  // of which scratch has room for a few rows
constexpr LoraConfig everything{.rank = 3, .alpha = 4, .key = true, .output = true, .up = true, .gate = true, .down = true};

constexpr BlockConfig block_of(Weights weights) {
  return {.attention = {.d_in = 16,
                        .d_out = 16,
                        .context_length = 8,
                        .num_heads = 4,
                        .num_kv_heads = 2,
                        .rotary = Rotary::interleaved,
                        .weights = weights},
          .feed_forward = {.d_model = 16, .d_hidden = 20, .activation = Activation::silu, .gated = true, .weights = weights},
          .normalization = Normalization::rms};
}
constexpr LanguageModelConfig decoder_of(Weights weights) {
  return {.vocabulary = 13, .transformer = {.block = block_of(weights), .num_layers = 2}, .positions = Positions::none, .weights = weights};
}
using Decoder = LanguageModel<decoder_of(Weights::f32)>;
using Int8Decoder = LanguageModel<decoder_of(Weights::int8)>;
constexpr std::size_t num_tokens = 6;
constexpr auto tokens = vector<Token>({3, 12, 0, 5, 5, 9}), targets = vector<Token>({12, 0, 5, 5, 9, 1});
using Logits = Matrix<float, num_tokens, Decoder::vocabulary>;

// --- A module ---

static_assert(Adapters<Decoder, attention_alone>::parameter_count == 2 * (4 * 16 + 4 * 16 + 4 * 16 + 4 * 8));
static_assert(sizeof(Adapters<Decoder, attention_alone>) == 4 * Adapters<Decoder, attention_alone>::parameter_count);
static_assert(Adapters<Linear<5, 7>, attention_alone>::scale == 2.0f && Adapters<Linear<5, 7>, everything>::scale == 4.0f / 3.0f);
static_assert(sizeof(Adapters<Decoder, everything>) == 4 * Adapters<Decoder, everything>::parameter_count);

// What training takes: of adapters of a model with 60 tokens and a context of 16.
constexpr LanguageModelConfig text_of_16 = {
    .vocabulary = 60,
    .transformer = {.block = {.attention = {.d_in = 48,
                                            .d_out = 48,
                                            .context_length = 16,
                                            .num_heads = 6,
                                            .out_bias = false,
                                            .num_kv_heads = 1,
                                            .rotary = Rotary::halves},
                              .feed_forward = {.d_model = 48, .d_hidden = 64, .activation = Activation::silu, .gated = true, .bias = false},
                              .normalization = Normalization::rms},
                    .num_layers = 3},
    .positions = Positions::none};
using OfText = Adapters<LanguageModel<text_of_16>, attention_alone>;
static_assert(OfText::parameter_count == 1824);
static_assert(sizeof(OfText) + sizeof(Training<LanguageModel<text_of_16>, AdamW, OfText>) <= 74368);

constexpr std::string_view names[] = {"transformer.blocks.0.attention.query.lora_A", "transformer.blocks.0.attention.query.lora_B",
                                      "transformer.blocks.0.attention.value.lora_A", "transformer.blocks.0.attention.value.lora_B",
                                      "transformer.blocks.1.attention.query.lora_A", "transformer.blocks.1.attention.query.lora_B",
                                      "transformer.blocks.1.attention.value.lora_A", "transformer.blocks.1.attention.value.lora_B"};

constexpr void check_names(Check& check) {
  const Adapters<Decoder, attention_alone> adapters;
  std::size_t i = 0;
  for_each_parameter(adapters, [&](const char* name, const auto&) { check.that(names[i++] == name); });
  check.equal(i, std::size(names));
}

// A is drawn as the weight of a Linear of the same inputs is; B is 0.
constexpr void check_initialization(Check& check) {
  Adapters<Linear<5, 7>, everything> adapters{};
  adapters.lora_B(1, 2) = 1.0f;
  Linear<5, 3, false> linear{};
  Philox4x32 generator(7), same(7);
  initialize(adapters, generator);
  initialize(linear, same);
  check.same_bits(adapters.lora_A, linear.weight);
  check.same_bits(adapters.lora_B, full<float, 3, 7>(0.0f));
}

// --- Passes ---

template <class Layer, LoraConfig lora>
constexpr Adapters<Layer, lora> untrained() {
  Adapters<Layer, lora> adapters{};
  Philox4x32 generator(11);
  initialize(adapters, generator);
  return adapters;
}
template <class Layer, LoraConfig lora>
constexpr Adapters<Layer, lora> drawn_adapters() {
  Adapters<Layer, lora> adapters{};
  Draw draw(6);
  for_each_parameter(adapters, [&](const char*, auto& tensor) { draw.draw(tensor, 0.25f); });
  return adapters;
}

template <class Model>
constexpr Logits logits_of(const Model& model) {
  Logits logits{};
  typename Model::Workspace workspace{};
  static_cast<void>(model.forward(tokens, logits, workspace));
  return logits;
}

template <class Model, LoraConfig lora>
constexpr void changes_nothing_untrained(Check& check) {
  const auto model = drawn<Model>(5);
  const auto adapters = untrained<Model, lora>(), trained = drawn_adapters<Model, lora>();
  const Logits logits = logits_of(model);
  check.same_bits(logits_of(adapted(model, adapters)), logits);
  check.that(logits_of(adapted(model, trained)) != logits);
}

// out goes on from what the layer computes.
template <LoraConfig lora>
constexpr void check_linear(Check& check) {
  using Layer = Linear<5, 33>;
  const auto layer = drawn<Layer>(1);
  const auto adapters = drawn_adapters<Layer, lora>();
  const auto x = drawn<Matrix<float, 9, 5>>(2);
  Matrix<float, 9, 33> out, expected;
  Matrix<float, 9, lora.rank> low;
  adapted(opaque(layer), adapters).forward(x, out);
  layer.forward(x, expected);
  plain::project_to_rank(plain::view(x), plain::view(adapters.lora_A), adapters.scale, plain::view(low));
  plain::add_from_rank(plain::view(low), plain::view(adapters.lora_B), plain::view(expected));
  check.same_bits(out, expected);
}

template <std::size_t In, std::size_t Out, LoraConfig lora, std::size_t Rows>
using LinearAdapters = AdaptedGradient<Linear<In, Out>, lora, Matrix<float, Rows, In>, Matrix<float, Rows, Out>>;

// A text at once, and token by token with a cache.
void check_cache(Check& check) {
  const auto model = drawn<Decoder>(5);
  const auto adapters = drawn_adapters<Decoder, everything>();
  const auto through = adapted(model, adapters);
  const Logits all = logits_of(through);
  Decoder::Cache cache;
  Decoder::Cache::Workspace workspace;
  Vector<float, Decoder::vocabulary> logits;
  check.that(through.forward(TokenView(tokens.data(), 2), cache, logits, workspace) == Status::ok);
  check.same_bits(logits, row(all, 1));
  check.that(through.forward(TokenView(tokens.data() + 2, 4), cache, logits, workspace) == Status::ok);
  check.same_bits(logits, row(all, 5));
}

// --- Forms of a call ---

using Six = Matrix<float, 6, 16>;
constexpr std::size_t some = 4, too_many = 9;
constexpr KeepMask is_kept{vector<bool>({true, false, true, true, false, true})};

// What a form of forward writes, by what it takes before out.
template <class Module>
Six output_of(const Module& module, const auto&... inputs) {
  Six out{};
  typename Module::Workspace workspace;
  static_cast<void>(module.forward(inputs..., out, workspace));
  return out;
}
constexpr Matrix<float, some, 16> head_of(const Six& x) {
  Matrix<float, some, 16> head;
  for (std::size_t i = 0; i < head.size(); ++i) head.elements[i] = x.elements[i];
  return head;
}
constexpr Six first_rows(Six x) {
  for (std::size_t i = some * 16; i < x.size(); ++i) x.elements[i] = 0.0f;
  return x;
}
template <class Module, class CacheWorkspace>
void check_forms(Check& check, const Module& module, CacheWorkspace& workspace) {
  const auto x = drawn<Six>(2);
  const Six all = output_of(module, x);
  check.that(output_of(module, x, is_kept) != all);
  check.same_bits(output_of(module, x, some), first_rows(all));
  check.same_bits(output_of(module, x, too_many), Six{});
  typename Module::Cache cache;
  Six out{};
  check.equal(module.forward(x, some, cache, out, workspace), Status::ok);
  check.same_bits(out, first_rows(all));
  check.equal(module.forward(x, cache, out, workspace), Status::too_many_tokens);
  cache.clear();
  check.equal(module.forward(x, cache, out, workspace), Status::ok);
  check.same_bits(out, all);
}
template <class Module, LoraConfig lora>
void check_blocks(Check& check) {
  const auto module = drawn<Module>(1);
  const auto adapters = drawn_adapters<Module, lora>();
  typename Module::Cache::Workspace workspace;
  check_forms(check, adapted(module, adapters), workspace);
}

// Training takes what the backward pass of an adapted transformer takes.
void check_training_of_blocks(Check& check) {
  using Body = Decoder::Body;
  const auto body = drawn<Body>(1);
  const auto adapters = drawn_adapters<Body, everything>();
  const auto x = drawn<Six>(2), d_out = drawn<Six>(3);
  Six d_x[2] = {};
  static Training<Body, Sgd, Adapters<Body, everything>> training;
  Adapters<Body, everything> gradient{};
  BackwardWorkspace<Body> workspace;
  training.backward(body, adapters, x, is_kept, d_out, d_x[0]);
  backward(adapted(body, adapters), x, is_kept, d_out, d_x[1], gradient, workspace);
  check.that(training.backward(body, adapters, x, some, d_out, d_x[0]) == Status::ok);
  check.that(backward(adapted(body, adapters), x, some, d_out, d_x[1], gradient, workspace) == Status::ok);
  check.that(training.gradient == gradient);
  check.same_bits(d_x[0], d_x[1]);
}

template <Weights weights>
constexpr AttentionConfig attention_with_dropout = [] {
  AttentionConfig config = block_of(weights).attention;
  config.dropout = 0.5;
  config.residual_dropout = 0.25;
  return config;
}();

template <Weights weights>
void check_attention(Check& check) {
  using Layer = MultiHeadAttention<attention_with_dropout<weights>>;
  const auto layer = drawn<Layer>(1);
  const auto adapters = drawn_adapters<Layer, everything>();
  const auto module = adapted(layer, adapters);
  typename Layer::Cache::Workspace of_cache;
  check_forms(check, module, of_cache);
  const auto x = drawn<Six>(2), source = drawn<Six>(3);
  check.same_bits(output_of(module, x, some, is_kept), first_rows(output_of(module, x, is_kept)));
  const Six crossed = output_of(module, x, source, source);
  check.that(crossed != output_of(module, x));
  check.same_bits(output_of(module, x, source, source, NoMask{}), crossed);
  check.same_bits(output_of(module, x, source, source, some, std::size_t{6}), first_rows(crossed));
  check.same_bits(output_of(module, x, source, source, some, std::size_t{6}, is_kept),
                  first_rows(output_of(module, x, source, source, is_kept)));
}

// The first rows of a backward pass are those of a shorter one; one input is three that are equal.
template <Weights weights>
void check_backward_of_attention(Check& check) {
  using Layer = MultiHeadAttention<attention_with_dropout<weights>>;
  using Four = Matrix<float, some, 16>;
  const auto layer = drawn<Layer>(1);
  const auto adapters = drawn_adapters<Layer, everything>();
  const auto module = adapted(layer, adapters);
  const auto x = drawn<Six>(2), d_out = drawn<Six>(3);
  const auto short_x = head_of(x), short_d_out = head_of(d_out);
  Six d_x, d_key, d_value;
  Four expected, crossed;
  Adapters<Layer, everything> of_short{}, of_counted{}, of_crossed{};
  BackwardWorkspace<Layer> workspace;
  backward(module, short_x, short_d_out, expected, of_short, workspace);
  check.equal(backward(module, x, some, d_out, d_x, of_counted, workspace), Status::ok);
  check.same_bits(head_of(d_x), expected);
  check.that(of_counted == of_short);
  check.equal(backward(module, x, too_many, d_out, d_x, of_counted, workspace), Status::too_many_tokens);
  backward(module, short_x, short_x, short_x, short_d_out, crossed, crossed, crossed, of_crossed, workspace);
  check.same_bits(crossed, expected);
  check.that(of_crossed == of_short);
  backward(module, x, x, x, d_out, d_x, d_key, d_value, no_gradient, workspace);
  check.that(d_x != d_key && d_key != d_value);
}

// With adapters that change nothing, training passes are those of the layer.
void check_training_of_attention(Check& check) {
  using Layer = MultiHeadAttention<attention_with_dropout<Weights::f32>>;
  const auto layer = drawn<Layer>(1);
  const auto adapters = untrained<Layer, everything>(), trained = drawn_adapters<Layer, everything>();
  const auto x = drawn<Six>(2), d_out = drawn<Six>(3);
  const Philox4x32 before(7);
  Philox4x32 generator = before, same = before, again = before;
  Layer::Workspace workspace;
  Six out, expected;
  adapted(layer, adapters).forward(x, out, workspace, generator);
  layer.forward(x, expected, workspace, same);
  check.same_bits(out, expected);
  check.that(generator.block(0) == same.block(0));
  adapted(layer, trained).forward(x, out, workspace, again);
  check.that(out != expected);
  BackwardWorkspace<Layer> of_backward;
  Adapters<Layer, everything> gradient{};
  backward(adapted(layer, adapters), x, d_out, out, gradient, of_backward, before);
  backward(layer, x, d_out, expected, no_gradient, of_backward, before);
  check.equal(out, expected);
  check.that(gradient != Adapters<Layer, everything>{});
}

// A feed-forward layer is its projections, one after the other.
template <std::size_t Rows>
constexpr void check_feed_forward(Check& check) {
  constexpr LoraConfig up_and_down{.rank = 3, .alpha = 4, .up = true, .down = true};
  using Layer = FeedForward<FeedForwardConfig{.d_model = 5, .d_hidden = 9, .activation = Activation::relu}>;
  using X = Matrix<float, Rows, 5>;
  const auto layer = drawn<Layer>(1);
  const auto adapters = drawn_adapters<Layer, up_and_down>();
  const auto module = adapted(layer, adapters);
  const auto up = adapted(layer.up, adapters.up);
  const auto down = adapted(layer.down, adapters.down);
  const auto x = drawn<X>(2), d_out = drawn<X>(3);
  X out, expected;
  Matrix<float, Rows, 9> hidden, active, d_hidden;
  typename Layer::Workspace workspace;
  module.forward(x, out, workspace);
  up.forward(x, hidden);
  relu(hidden, active);
  down.forward(active, expected);
  check.same_bits(out, expected);

  Adapters<Layer, up_and_down> gradient{}, of_parts{};
  BackwardWorkspace<Layer> of_backward;
  backward(module, x, d_out, out, gradient, of_backward);
  backward(down, active, d_out, d_hidden, of_parts.down);
  relu_backward(hidden, d_hidden, d_hidden);
  backward(up, x, d_hidden, expected, of_parts.up);
  check.same_bits(out, expected);
  check.that(gradient == of_parts);
}

// --- Weights of int8 ---

// The weights that int8 weights stand for.
template <std::size_t In, std::size_t Out, bool Bias>
constexpr Linear<In, Out, Bias> as_floats(const Linear<In, Out, Bias, Weights::int8>& linear) {
  Linear<In, Out, Bias> result{{}, linear.bias};
  for (std::size_t o = 0; o < Out; ++o)
    for (std::size_t i = 0; i < In; ++i)
      result.weight(i, o) = static_cast<float>(linear.weight.code[o * linear.weight.row_size + i] - 128) * linear.weight.scale[o];
  return result;
}

template <std::size_t In, std::size_t Out>
constexpr void check_int8_linear(Check& check) {
  const auto int8 = quantize(drawn<Linear<In, Out>>(1));
  const auto floats = as_floats(int8);
  Adapters<Linear<In, Out, true, Weights::int8>, everything> adapters, gradient{};
  Adapters<Linear<In, Out>, everything> of_floats = drawn_adapters<Linear<In, Out>, everything>(), expected_gradient{};
  adapters.lora_A = of_floats.lora_A;
  adapters.lora_B = of_floats.lora_B;
  const auto x = drawn<Matrix<float, 3, In>>(2);
  const auto d_out = drawn<Matrix<float, 3, Out>>(3);
  Matrix<float, 3, In> d_x, expected;
  backward(adapted(opaque(int8), adapters), x, d_out, d_x, gradient);
  backward(adapted(opaque(floats), of_floats), x, d_out, expected, expected_gradient);
  check.same_bits(d_x, expected);
  check.same_bits(gradient.lora_A, expected_gradient.lora_A);
  check.same_bits(gradient.lora_B, expected_gradient.lora_B);
}

void near(Check& check, const auto& actual, const auto& wanted) {
  float largest = 0.0f;
  for (const float element : wanted.elements) largest = element > largest ? element : -element > largest ? -element : largest;
  for (std::size_t i = 0; i < wanted.size(); ++i) check.near(actual.elements[i], wanted.elements[i], 0.01f * largest);
}

void check_int8_attention(Check& check) {
  constexpr AttentionConfig of_floats = block_of(Weights::f32).attention, of_int8 = block_of(Weights::int8).attention;
  const auto layer = drawn<MultiHeadAttention<of_int8>>(1);
  const MultiHeadAttention<of_floats> floats{as_floats(layer.query), as_floats(layer.key), as_floats(layer.value),
                                             as_floats(layer.out_proj)};
  const auto adapters = drawn_adapters<MultiHeadAttention<of_int8>, everything>();
  const auto same = drawn_adapters<MultiHeadAttention<of_floats>, everything>();
  Adapters<MultiHeadAttention<of_int8>, everything> gradient{};
  Adapters<MultiHeadAttention<of_floats>, everything> expected{};
  const auto x = drawn<Matrix<float, 6, 16>>(2), d_out = drawn<Matrix<float, 6, 16>>(3);
  Matrix<float, 6, 16> d_x, expected_d_x;
  BackwardWorkspace<MultiHeadAttention<of_int8>> workspace;
  BackwardWorkspace<MultiHeadAttention<of_floats>> of_expected;
  backward(adapted(layer, adapters), x, d_out, d_x, gradient, workspace);
  backward(adapted(floats, same), x, d_out, expected_d_x, expected, of_expected);
  near(check, d_x, expected_d_x);
  near(check, gradient.query.lora_A, expected.query.lora_A);
  near(check, gradient.key.lora_B, expected.key.lora_B);
  near(check, gradient.value.lora_A, expected.value.lora_A);
  near(check, gradient.out_proj.lora_A, expected.out_proj.lora_A);
  near(check, gradient.out_proj.lora_B, expected.out_proj.lora_B);
}

void check_int8_feed_forward(Check& check) {
  constexpr FeedForwardConfig of_floats = block_of(Weights::f32).feed_forward, of_int8 = block_of(Weights::int8).feed_forward;
  const auto layer = drawn<FeedForward<of_int8>>(1);
  const FeedForward<of_floats> floats{as_floats(layer.up), as_floats(layer.gate), as_floats(layer.down)};
  const auto adapters = drawn_adapters<FeedForward<of_int8>, everything>();
  const auto same = drawn_adapters<FeedForward<of_floats>, everything>();
  Adapters<FeedForward<of_int8>, everything> gradient{};
  Adapters<FeedForward<of_floats>, everything> expected{};
  const auto x = drawn<Six>(2), d_out = drawn<Six>(3);
  Six d_x, expected_d_x;
  BackwardWorkspace<FeedForward<of_int8>> workspace;
  BackwardWorkspace<FeedForward<of_floats>> of_expected;
  backward(adapted(layer, adapters), x, d_out, d_x, gradient, workspace);
  backward(adapted(floats, same), x, d_out, expected_d_x, expected, of_expected);
  near(check, d_x, expected_d_x);
  near(check, gradient.up.lora_A, expected.up.lora_A);
  near(check, gradient.gate.lora_B, expected.gate.lora_B);
  near(check, gradient.down.lora_A, expected.down.lora_A);
}

// --- Training ---

constexpr LanguageModelConfig small{
    .vocabulary = 13,
    .transformer = {.block = {.attention = {.d_in = 4, .d_out = 4, .context_length = 8, .num_heads = 2},
                              .feed_forward = {.d_model = 4, .d_hidden = 5, .activation = Activation::relu}},
                    .num_layers = 1}};
constexpr LanguageModelConfig with_dropout = [] {
  LanguageModelConfig config = small;
  config.transformer.block.attention.dropout = 0.5;
  config.transformer.block.attention.residual_dropout = 0.25;
  return config;
}();

template <class Model, LoraConfig lora, class Optimizer = AdamW>
struct Tuning {
  using OfTraining = Training<Model, Optimizer, Adapters<Model, lora>>;
  Adapters<Model, lora> adapters = untrained<Model, lora>();
  OfTraining training{};

  constexpr float step(const Model& model, float learning_rate) {
    const float loss = training.backward(model, adapters, tokens, targets);
    training.step(adapters, {.learning_rate = learning_rate});
    return loss;
  }
};

template <class Model>
void learns_a_text(Check& check) {
  const auto model = drawn<Model>(5);
  Tuning<Model, everything> tuning;
  const float before = tuning.step(model, 0.01f);
  float after = before;
  for (int i = 0; i < 60; ++i) after = tuning.step(model, 0.01f);
  check.that(after < 0.25f * before);
}

// Steps in the compiler are those of the port. Only adapters have a gradient.
using Small = Tuning<LanguageModel<small>, attention_alone, SgdMomentum>;
static_assert(Small::OfTraining::gradient_bytes == sizeof(Small::adapters) && Small::OfTraining::state_bytes == sizeof(Small::adapters));
constexpr auto after_steps(const LanguageModel<small>& model) {
  Small tuning;
  static_cast<void>(tuning.step(model, 0.5f));
  static_cast<void>(tuning.step(model, 0.5f));
  return tuning.adapters;
}
constexpr auto in_the_compiler = after_steps(drawn<LanguageModel<small>>(7));
static_assert(in_the_compiler != untrained<LanguageModel<small>, attention_alone>());

void check_steps(Check& check) { check.that(after_steps(opaque(drawn<LanguageModel<small>>(7))) == in_the_compiler); }

// An unknown token, or too many, change nothing.
constexpr void check_refusals(Check& check) {
  using Layer = LanguageModel<small>;
  const auto model = drawn<Layer>(7);
  Tuning<Layer, attention_alone> tuning;
  const auto refused = [&](const auto& from, const auto& to) {
    const float loss = tuning.training.backward(model, tuning.adapters, from, to);
    return loss != loss;
  };
  check.that(refused(vector<Token>({1, small.vocabulary}), vector<Token>({1, 2})));
  check.that(refused(vector<Token>({1, 2}), vector<Token>({1, small.vocabulary})));
  check.that(refused(full<Token, 9>(1), full<Token, 9>(1)));
  check.that(tuning.training.gradient == Adapters<Layer, attention_alone>{});
}

// A dropout that is replayed is that of the model, and of forward: with adapters that change nothing, both are the same.
void check_dropout(Check& check) {
  using Layer = LanguageModel<with_dropout>;
  const auto model = drawn<Layer>(7);
  Tuning<Layer, attention_alone> tuning;
  Training<Layer, Sgd> whole;
  Philox4x32 generator(9), same(9);
  const float loss = tuning.training.backward(model, tuning.adapters, tokens, targets, 1.0f, generator);
  check.same_bits(loss, whole.backward(model, tokens, targets, 1.0f, same));
  check.that(generator.block(0) == same.block(0));
  check.that(loss != tuning.training.backward(model, tuning.adapters, tokens, targets));
  const auto check_forward = [&](const auto& part, const auto& its_adapters) {
    auto x = drawn<Matrix<float, num_tokens, 4>>(8), y = x;
    Philox4x32 of_part(9), of_adapted(9);
    typename std::remove_cvref_t<decltype(part)>::Workspace workspace;
    part.forward(x, x, workspace, of_part);
    adapted(part, its_adapters).forward(y, y, workspace, of_adapted);
    check.same_bits(x, y);
  };
  check_forward(model.transformer, tuning.adapters.transformer);
  check_forward(model.transformer.blocks[0], tuning.adapters.transformer.blocks[0]);
  tuning.adapters = drawn_adapters<Layer, attention_alone>();
  Matrix<float, num_tokens, small.vocabulary> logits;
  Philox4x32 before(9), after(9);
  check.that(adapted(model, tuning.adapters).forward(tokens, logits, tuning.training.workspace, before) == Status::ok);
  check.same_bits(cross_entropy(logits, targets), tuning.training.backward(model, tuning.adapters, tokens, targets, 1.0f, after));
  check.that(before.block(0) == after.block(0));
}

// --- Merging ---

constexpr void check_merging(Check& check) {
  const auto layer = drawn<Linear<5, 33>>(1);
  const auto adapters = drawn_adapters<Linear<5, 33>, everything>();
  Linear<5, 33> merged, itself = layer;
  merge(opaque(layer), adapters, merged);
  auto expected = layer.weight;
  Matrix<float, 5, 3> low;
  for (std::size_t i = 0; i < low.size(); ++i) low.elements[i] = plain::product(adapters.lora_A.elements[i], adapters.scale);
  plain::add_from_rank(plain::view(low), plain::view(adapters.lora_B), plain::view(expected));
  check.same_bits(merged.weight, expected);
  check.same_bits(merged.bias, layer.bias);
  merge(itself, adapters, itself);
  check.that(itself == merged);
}

void check_merged_model(Check& check) {
  const auto model = drawn<Decoder>(5);
  const auto adapters = drawn_adapters<Decoder, everything>();
  Decoder merged;
  merge(model, adapters, merged);
  const Logits through = logits_of(adapted(model, adapters)), at_once = logits_of(merged);
  check.that(through != at_once);
  float largest = 0.0f;
  for (const float logit : through.elements) largest = logit > largest ? logit : -logit > largest ? -logit : largest;
  for (std::size_t i = 0; i < through.size(); ++i) check.near(through.elements[i], at_once.elements[i], 1e-6f * largest);
}

constexpr Test tests[] = {
    everywhere("names, and a size that is that of the parameters", check_names),
    everywhere("A is drawn as a weight of a Linear, B is 0", check_initialization),
    at_run_time("untrained adapters change no bit: of floats", changes_nothing_untrained<Decoder, attention_alone>),
    at_run_time("untrained adapters of all projections change no bit", changes_nothing_untrained<Decoder, everything>),
    at_run_time("untrained adapters change no bit: of int8", changes_nothing_untrained<Int8Decoder, attention_alone>),
    at_run_time("untrained adapters of all int8 projections change no bit", changes_nothing_untrained<Int8Decoder, everything>),
    everywhere("forward goes on from the sums of the layer", check_linear<everything>),
    at_run_time("forward of a high rank", check_linear<high>),
    everywhere("backward, as in plain loops", as_in_plain_loops<Gradients<LinearAdapters<5, 17, everything, 4>>>),
    at_run_time("backward of many rows, and of a high rank, as in plain loops",
                as_in_plain_loops<Gradients<LinearAdapters<17, 33, everything, 100>>, Gradients<LinearAdapters<5, 9, high, 7>>>),
    at_run_time("token by token, the same bits", check_cache),
    at_run_time("forms of attention", check_attention<Weights::f32>),
    at_run_time("forms of attention of int8", check_attention<Weights::int8>),
    at_run_time("forms of the backward pass of attention", check_backward_of_attention<Weights::f32>),
    at_run_time("forms of the backward pass of attention of int8", check_backward_of_attention<Weights::int8>),
    at_run_time("dropout of attention is that of the layer", check_training_of_attention),
    everywhere("a feed-forward layer is its projections", check_feed_forward<2>),
    at_run_time("a feed-forward layer of many rows is its projections", check_feed_forward<70>),
    at_run_time("Training takes a mask, and a number of tokens", check_training_of_blocks),
    at_run_time("forms of a block", check_blocks<TransformerBlock<block_of(Weights::f32)>, everything>),
    at_run_time("forms of a transformer, whose feed-forward part has no adapters", check_blocks<Decoder::Body, attention_alone>),
    at_run_time("forms of a transformer of int8", check_blocks<Int8Decoder::Body, everything>),
    everywhere("int8: backward is that of the floats that the weights stand for", check_int8_linear<17, 5>),
    at_run_time("int8: backward of many weights, in blocks of inputs and of outputs", check_int8_linear<33, 300>),
    at_run_time("int8: backward of a feed-forward layer is near that of floats", check_int8_feed_forward),
    at_run_time("int8: backward of attention is near that of floats", check_int8_attention),
    at_run_time("steps are those that the compiler makes", check_steps),
    everywhere("what is refused changes nothing", check_refusals),
    at_run_time("dropout is that of the model", check_dropout),
    at_run_time("a text is learned", learns_a_text<Decoder>),
    at_run_time("a text is learned by a model of int8", learns_a_text<Int8Decoder>),
    everywhere("merging goes on from the weights", check_merging),
    at_run_time("a merged model is near the adapted one", check_merged_model),
};

}  // namespace

int main() { return run(tests); }
