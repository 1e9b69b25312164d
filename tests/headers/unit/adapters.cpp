// SPDX-License-Identifier: MIT
//
// Adapters: they are a module; while untrained, every form of a call through them has the base model's bits, and afterwards is near the
// merged model; forms of backward passes, training, merging. golden/gradients.cpp compares with PyTorch, answers/ with plain loops, of
// int8 weights too, and training.cpp has refused calls.
#include "tinyattn/training/adapters.hpp"

#include <string_view>

#include "catalogue/adapters.hpp"
#include "checks_of_gradients.hpp"
#include "forms.hpp"

namespace tinyattn::test { namespace {

constexpr LoraConfig attention_alone{.rank = 4, .alpha = 8};
constexpr LoraConfig up_and_down{.rank = 3, .alpha = 4, .up = true, .down = true};
constexpr LoraConfig everything{.rank = 3, .alpha = 4, .key = true, .output = true, .up = true, .gate = true, .down = true};

constexpr BlockConfig block_of(Weights weights) {
  return {.attention = {.d_in = 16,
                        .d_out = 16,
                        .context_length = 8,
                        .num_heads = 4,
                        .dropout = 0.5,
                        .residual_dropout = 0.25,
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
template <Weights weights>
using Block = TransformerBlock<block_of(weights)>;
template <Weights weights>
using Attention = MultiHeadAttention<block_of(weights).attention>;
constexpr std::size_t num_tokens = 6;
constexpr auto tokens = vector<Token>({3, 12, 0, 5, 5, 9}), targets = vector<Token>({12, 0, 5, 5, 9, 1});

// --- A module ---

static_assert(Adapters<Decoder, attention_alone>::parameter_count == 2 * (4 * 16 + 4 * 16 + 4 * 16 + 4 * 8));
static_assert(sizeof(Adapters<Decoder, attention_alone>) == 4 * Adapters<Decoder, attention_alone>::parameter_count);
static_assert(Adapters<Linear<5, 7>, attention_alone>::scale == 2.0f && Adapters<Linear<5, 7>, everything>::scale == 4.0f / 3.0f);
static_assert(sizeof(Adapters<Decoder, everything>) == 4 * Adapters<Decoder, everything>::parameter_count);

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

// A is drawn like the weight of a Linear with the same inputs; B is 0.
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

// --- Forms of a call ---

using Six = Matrix<float, num_tokens, 16>;
constexpr std::size_t some = 4;
constexpr KeepMask is_kept{vector<bool>({true, false, true, true, false, true})};
constexpr auto x = drawn<Six>(2), key = drawn<Six>(3), value = drawn<Six>(4), d_out = drawn<Six>(5);

// Checks forms of a call: adapters that change nothing give the module's bits; others give results near the merged module, or, with int8
// weights, merely different ones.
template <class Module, LoraConfig lora, bool merges = true>
void check_results(Check& check, const auto&... result_of) {
  const auto module = drawn<Module>(1);
  const auto same = untrained<Module, lora>(), others = drawn_adapters<Module, lora>();
  Module merged;
  if constexpr (merges) merge(module, others, merged);
  const auto check_one = [&](const auto& result) {
    const auto expected = result(module), through = result(adapted(module, others));
    check.same_bits(result(adapted(module, same)), expected);
    check.that(through != expected);
    if constexpr (merges) check.near(through, result(merged), 1e-5f);
  };
  (check_one(result_of), ...);
}

// A form of forward by the arguments before `out`; with a generator, a training pass.
constexpr auto form(const auto&... inputs) {
  return [=]<class Module>(const Module& module, auto&... generator) {
    Six out{};
    typename Module::Workspace workspace;
    static_cast<void>(module.forward(inputs..., out, workspace, generator...));
    return out;
  };
}
// The gradient of x, by the arguments of backward that precede d_out.
constexpr auto backward_form(const auto&... inputs) {
  return [=]<class Module>(const Module& module, auto&... generator) {
    Six d_x{};
    BackwardWorkspace<detail::BaseOf<Module>> workspace;
    static_cast<void>(backward(module, inputs..., d_out, d_x, no_gradient, workspace, generator...));
    return d_x;
  };
}
constexpr auto with_dropout(const auto& its_form) {
  return [=](const auto& module) {
    Philox4x32 generator(9);
    return its_form(module, generator);
  };
}
// Some tokens, then more than fit, and all from the beginning.
constexpr auto by_cache = [](Check& check) {
  return [&]<class Module>(const Module& module) {
    Six out[2] = {};
    typename Module::Cache cache;
    typename Module::Cache::Workspace workspace;
    check.equal(module.forward(x, some, cache, out[0], workspace), Status::ok);
    check.equal(module.forward(x, cache, out[1], workspace), Status::too_many_tokens);
    cache.clear();
    check.equal(module.forward(x, cache, out[1], workspace), Status::ok);
    return stack(out[0], out[1]);
  };
};

template <class Module, LoraConfig lora>
void check_dropout(Check& check) {
  check_results<Module, lora>(check, with_dropout(form(x)), with_dropout(form(x, is_kept)), with_dropout(backward_form(x)),
                              with_dropout(backward_form(x, is_kept)));
}
template <Weights weights>
void check_attention(Check& check) {
  using Layer = Attention<weights>;
  constexpr bool merges = weights == Weights::f32;
  constexpr std::size_t fewer = num_tokens - 1;
  check_results<Layer, everything, merges>(check, form(x), form(x, is_kept), form(x, some), form(x, some, is_kept), by_cache(check));
  check_results<Layer, everything, merges>(check, form(x, key, value), form(x, key, value, is_kept), form(x, key, value, some, fewer),
                                           form(x, key, value, some, fewer, is_kept));
  if constexpr (merges) {
    check_results<Layer, everything>(check, backward_form(x), backward_form(x, is_kept), backward_form(x, some),
                                     backward_form(x, some, is_kept));
    check_dropout<Layer, everything>(check);
  }
}
template <class Module, LoraConfig lora, bool merges>
void check_blocks(Check& check) {
  check_results<Module, lora, merges>(check, form(x), form(x, is_kept), form(x, some), by_cache(check));
  if constexpr (merges) {
    check_results<Module, lora>(check, backward_form(x), backward_form(x, is_kept), backward_form(x, some));
    check_dropout<Module, lora>(check);
  }
  const auto module = drawn<Module>(1);
  const auto adapters = drawn_adapters<Module, lora>();
  typename Module::Workspace workspace;
  Six out;
  check_layer_forms(check, adapted(module, adapters), x, out, workspace);
  check_counts(check, adapted(module, adapters), x, out, workspace);
}

// A text in one call, and in two calls with a cache.
template <class Model, LoraConfig lora, bool merges>
void check_model(Check& check) {
  const auto logits_of = [&](const auto& model) {
    Matrix<float, num_tokens, Decoder::vocabulary> logits{};
    typename Model::Workspace workspace;
    check.equal(model.forward(tokens, logits, workspace), Status::ok);
    return logits;
  };
  const auto cached = [&](const auto& model) {
    Vector<float, Decoder::vocabulary> first, second;
    typename Model::Cache cache;
    typename Model::Cache::Workspace workspace;
    check.equal(model.forward(TokenView(tokens.data(), 2), cache, first, workspace), Status::ok);
    check.equal(model.forward(TokenView(tokens.data() + 2, 4), cache, second, workspace), Status::ok);
    return stack(first, second);
  };
  check_results<Model, lora, merges>(check, logits_of, cached);
}

// --- Training ---

constexpr LanguageModelConfig small{
    .vocabulary = 13,
    .transformer = {.block = {.attention = {.d_in = 4, .d_out = 4, .context_length = 8, .num_heads = 2},
                              .feed_forward = {.d_model = 4, .d_hidden = 5, .activation = Activation::relu}},
                    .num_layers = 1}};

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

// The compiler makes the same steps as the port. Only adapters have a gradient.
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

// --- Merging ---

// Adds the product of a row of `low` and a column of `b` to `sums`, as one chain.
template <std::size_t Rows, std::size_t Rank, std::size_t Cols>
constexpr void add_from_rank(const Matrix<float, Rows, Rank>& low, const Matrix<float, Rank, Cols>& b, Matrix<float, Rows, Cols>& sums) {
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j)
      for (std::size_t r = 0; r < Rank; ++r) sums(i, j) = fma(low(i, r), b(r, j), sums(i, j));
}

constexpr void check_merging(Check& check) {
  const auto layer = drawn<Linear<5, 33>>(1);
  const auto adapters = drawn_adapters<Linear<5, 33>, everything>();
  Linear<5, 33> merged, itself = layer;
  merge(opaque(layer), adapters, merged);
  auto expected = layer.weight;
  add_from_rank(multiply(adapters.lora_A, adapters.scale), adapters.lora_B, expected);
  check.same_bits(merged.weight, expected);
  check.same_bits(merged.bias, layer.bias);
  merge(itself, adapters, itself);
  check.that(itself == merged);
}

constexpr Test tests[] = {
    everywhere("names, and a size of the parameters alone", check_names),
    everywhere("A is drawn as a weight of a Linear, B is 0", check_initialization),
    at_run_time("forms of attention", check_attention<Weights::f32>),
    at_run_time("forms of attention of int8", check_attention<Weights::int8>),
    at_run_time("forms of a block", check_blocks<Block<Weights::f32>, everything, true>),
    at_run_time("forms of a transformer, whose feed-forward part has no adapters", check_blocks<Decoder::Body, attention_alone, true>),
    at_run_time("forms of a transformer of int8", check_blocks<Int8Decoder::Body, everything, false>),
    at_run_time("forms of a language model", check_model<Decoder, everything, true>),
    at_run_time("forms of a language model of int8", check_model<Int8Decoder, attention_alone, false>),
    at_run_time("forms of a feed-forward layer",
                [](Check& check) {
                  check_results<FeedForward<block_of(Weights::f32).feed_forward>, everything>(check, form(x), backward_form(x));
                }),
    at_run_time("a gradient that is not wanted changes no other; a batch is its elements one after the other; in place",
                [](Check& check) {
                  using Hidden = FeedForward<FeedForwardConfig{.d_model = 5, .d_hidden = 9, .activation = Activation::relu}>;
                  check_module<AdaptedGradient<Linear<5, 7>, everything, Matrix<float, 4, 5>, Matrix<float, 4, 7>>, true>(check);
                  check_module<AdaptedGradient<Hidden, up_and_down, Matrix<float, 40, 5>>, true>(check);
                  check_module<AdaptedGradient<Attention<Weights::f32>, everything, Six>>(check);
                  check_module<AdaptedGradient<Attention<Weights::int8>, everything, Six>>(check);
                  check_module<AdaptedGradient<Block<Weights::int8>, everything, Six>>(check);
                }),
    at_run_time("steps as the compiler makes them", check_steps),
    at_run_time("a text is learned", learns_a_text<Decoder>),
    at_run_time("a text is learned by a model of int8", learns_a_text<Int8Decoder>),
    everywhere("merging goes on from the weights", check_merging),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
