// SPDX-License-Identifier: MIT
//
// Language models of three kinds: the same logits however a text is divided; errors for wrong tokens; and a whole decoder in the compiler.
// Large objects are static, since a board has little stack.
#include "catalogue/case.hpp"
#include "catalogue/workloads.hpp"
#include "divided.hpp"

namespace tinyattn::test { namespace {

constexpr BlockConfig post_block{.attention = {.d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 2, .out_proj = false},
                                 .feed_forward = {.d_model = 12, .d_hidden = 5, .activation = Activation::relu},
                                 .norm_first = false};
constexpr LanguageModelConfig post{.vocabulary = 33,
                                   .transformer = {.block = post_block, .num_layers = 2, .final_norm = false},
                                   .positions = Positions::sinusoidal,
                                   .tied = false,
                                   .head_bias = true};

constexpr LanguageModelConfig blocks_in_int8{.vocabulary = 7, .transformer = {.block = in_int8(layer_first), .num_layers = 2}};
constexpr LanguageModelConfig embedding_in_int8{
    .vocabulary = 7, .transformer = {.block = layer_first, .num_layers = 1}, .weights = Weights::int8};

// A whole decoder, small enough for Clang's limit of steps in a constant.
constexpr LanguageModelConfig tiny{
    .vocabulary = 5,
    .transformer =
        {.block = {.attention = {.d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2, .num_kv_heads = 1, .rotary = Rotary::halves},
                   .feed_forward = {.d_model = 4, .d_hidden = 6, .activation = Activation::silu, .gated = true},
                   .normalization = Normalization::rms},
         .num_layers = 2},
    .positions = Positions::none};

template <LanguageModelConfig config>
constexpr std::size_t body_count = Transformer<config.transformer>::parameter_count;
static_assert(LanguageModel<gpt_2>::parameter_count == 7 * 12 + 5 * 12 + body_count<gpt_2>);
static_assert(LanguageModel<llama>::parameter_count == 19 * 12 + body_count<llama> + 12 * 19);
static_assert(LanguageModel<post>::parameter_count == 33 * 12 + body_count<post> + 12 * 33 + 33);
// A model holds its weights and one epsilon per norm; absent members take no space.
static_assert(sizeof(LanguageModel<gpt_2>) == sizeof(float) * (LanguageModel<gpt_2>::parameter_count + 5));
static_assert(sizeof(LanguageModel<post>) == sizeof(float) * (LanguageModel<post>::parameter_count + 4));
// A workspace holds one block's scratch and the features; a cache holds one of each block.
static_assert(sizeof(LanguageModel<post>::Workspace) == sizeof(TransformerBlock<post_block>::Workspace) + 11 * 12 * sizeof(float));
static_assert(sizeof(LanguageModel<post>::Cache) == 2 * sizeof(TransformerBlock<post_block>::Cache));

// A model with random weights, and a valid text that fills its cache.
template <LanguageModelConfig config>
struct Reader {
  using Model = LanguageModel<config>;
  using Logits = Vector<float, config.vocabulary>;
  static constexpr std::size_t length = Model::context_length;
  static constexpr Logits untouched = full<float, config.vocabulary>(Guarded<float>::untouched);

  Model model = drawn<Model>(1);
  Vector<Token, length> text{};
  typename Model::Workspace workspace{};
  typename Model::Cache cache{};
  typename Model::Cache::Workspace cache_workspace{};
  Matrix<float, length, config.vocabulary> expected{};

  Reader() {
    for (std::size_t i = 0; i < length; ++i) text(i) = static_cast<Token>(3 * i % 7);
    if (model.forward(text, expected, workspace) != Status::ok) __builtin_trap();
  }

  // Checks a call with a cache: its status, its logits and the number of tokens in the cache afterwards.
  void check_call(Check& check, TokenView tokens, Status status, const Logits& logits, std::size_t size) {
    check_output(check, logits, [&](auto& out) { check.that(model.forward(tokens, cache, out, cache_workspace) == status); });
    check.equal(cache.size(), size);
  }
};

template <LanguageModelConfig config>
void check_wrong_tokens(Check& check) {
  static Reader<config> reader;
  constexpr std::size_t length = reader.length;
  const auto none = full<float, length, config.vocabulary>(Guarded<float>::untouched);
  for (const std::size_t place : {std::size_t{0}, length - 1}) {
    auto wrong = reader.text;
    wrong(place) = config.vocabulary;
    check_output(check, none, [&](auto& out) { check.that(reader.model.forward(wrong, out, reader.workspace) == Status::unknown_token); });
  }
  // A refused call does not affect later calls.
  const Token* const tokens = reader.text.data();
  const Token wrong[] = {0, 1, config.vocabulary};
  for (std::size_t i = 0; i < length; ++i) {
    reader.check_call(check, wrong, i + 3 > length ? Status::too_many_tokens : Status::unknown_token, reader.untouched, i);
    reader.check_call(check, {tokens, length + 1 - i}, Status::too_many_tokens, reader.untouched, i);
    reader.check_call(check, {}, Status::ok, reader.untouched, i);
    reader.check_call(check, {tokens + i, 1}, Status::ok, row(reader.expected, i), i + 1);
  }
}

// Initializes the layers that have a weight, in the order of a model's parameters.
constexpr void initialize_layers(auto& module, auto& generator) {
  if constexpr (std::is_array_v<std::remove_reference_t<decltype(module)>>)
    for (auto& one : module) initialize_layers(one, generator);
  else if constexpr (requires { module.weight; })
    initialize(module, generator);
  else if constexpr (!std::is_empty_v<std::remove_reference_t<decltype(module)>>)
    detail::members_of(module, [&](const auto&, auto&... members) { (initialize_layers(members, generator), ...); });
}
template <LanguageModelConfig config>
void check_first_weights(Check& check) {
  static auto model = drawn<LanguageModel<config>>(1), expected = model;
  Mt19937 generator(6), same(6);
  initialize(model, generator);
  initialize_layers(expected, same);
  check.that(model == expected);
  check.equal(uniform(generator, 0.0f, 1.0f), uniform(same, 0.0f, 1.0f));
}

// Checks every form of tokens and of logits.
void check_forms(Check& check) {
  static Reader<gpt_2> reader;
  const auto call = [&](const auto& tokens, auto&& out) {
    reader.cache.clear();
    check.that(reader.model.forward(tokens, reader.cache, out, reader.cache_workspace) == Status::ok);
    check.same_bits(out, row(reader.expected, 2));
  };
  Vector<float, 7> logits;
  Matrix<float, 1, 7> matrix_row;
  const Token array[] = {0, 3, 6};
  Token changing[] = {0, 3, 6};
  call(Vector<Token, 3>{{0, 3, 6}}, logits);
  call(std::span<const Token>(array), logits);
  call(std::span<Token>(changing), logits);
  call(std::array<Token, 3>{0, 3, 6}, logits);
  call(array, matrix_row);
  call(array, MatrixView<float, 1, 7, 7>{logits.data()});
}

constexpr Test tests[] = {
    at_run_time("a text in one call, in two or token by token",
                all<DividedText<llama, 9>, DividedText<gpt_2, 5>, DividedText<post, 11>, DividedText<post, 4>>),
    at_run_time("the same with parallel parts, or norms of heads",
                all<DividedText<parallel, 5>, DividedText<of_heads_with_norms, 9>, DividedText<in_int8(parallel), 4>,
                    DividedText<with_int8_cache(with_window(in_int8(of_heads_with_norms), 4)), 9>>),
    at_run_time("the same with weights of int8 in all layers, in blocks alone, and outside of them alone",
                all<DividedText<in_int8(llama), 9>, DividedText<in_int8(post), 4>, DividedText<blocks_in_int8, 5>,
                    DividedText<embedding_in_int8, 5>>),
    everywhere("a decoder in the compiler", all<DividedText<tiny, 3>>),
    everywhere("one with weights of int8", all<DividedText<in_int8(tiny), 3>>),
    at_run_time("unknown or too many tokens: nothing is written, and nothing changes",
                each_of<check_wrong_tokens<llama>, check_wrong_tokens<gpt_2>, check_wrong_tokens<post>>),
    at_run_time("tokens of a Vector, an array, a span and {}; logits of a vector, a matrix, a view", check_forms),
    at_run_time("first weights: layer after layer, in the order of the parameters",
                each_of<check_first_weights<llama>, check_first_weights<gpt_2>>),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
