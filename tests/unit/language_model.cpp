// SPDX-License-Identifier: MIT
//
// Language models of three kinds: logits in the bits of plain loops, however a text is divided; what they say of wrong tokens; and a whole
// decoder in the compiler. Large objects are static: a board has little stack.
#include "plain_model.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr BlockConfig llama_block{
    .attention = {.d_in = 12,
                  .d_out = 12,
                  .context_length = 11,
                  .num_heads = 6,
                  .out_bias = false,
                  .num_kv_heads = 2,
                  .rotary = Rotary::interleaved},
    .feed_forward = {.d_model = 12, .d_hidden = 20, .activation = Activation::silu, .gated = true, .bias = false},
    .normalization = Normalization::rms};
constexpr BlockConfig gpt_block{.attention = {.d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 3, .qkv_bias = true},
                                .feed_forward = {.d_model = 12, .d_hidden = 48, .activation = Activation::gelu_tanh}};
constexpr BlockConfig post_block{.attention = {.d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 2, .out_proj = false},
                                 .feed_forward = {.d_model = 12, .d_hidden = 5, .activation = Activation::relu},
                                 .norm_first = false};
constexpr LanguageModelConfig llama{
    .vocabulary = 10, .transformer = {.block = llama_block, .num_layers = 2}, .positions = Positions::none, .tied = false};
constexpr LanguageModelConfig gpt{.vocabulary = 7, .transformer = {.block = gpt_block, .num_layers = 3}};
constexpr LanguageModelConfig post{.vocabulary = 33,
                                   .transformer = {.block = post_block, .num_layers = 2, .final_norm = false},
                                   .positions = Positions::sinusoidal,
                                   .tied = false,
                                   .head_bias = true};

// A whole decoder, small enough for the steps that Clang allows a constant.
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
static_assert(LanguageModel<gpt>::parameter_count == 7 * 12 + 11 * 12 + body_count<gpt>);
static_assert(LanguageModel<llama>::parameter_count == 10 * 12 + body_count<llama> + 12 * 10);
static_assert(LanguageModel<post>::parameter_count == 33 * 12 + body_count<post> + 12 * 33 + 33);
static_assert(LanguageModel<gpt>::context_length == 11);
// Weights and an epsilon for each norm: members that are absent take no room.
static_assert(sizeof(LanguageModel<gpt>) == sizeof(float) * (LanguageModel<gpt>::parameter_count + 7));
static_assert(sizeof(LanguageModel<post>) == sizeof(float) * (LanguageModel<post>::parameter_count + 4));

// Scratch of one block beside the features; a cache for each block.
static_assert(sizeof(LanguageModel<gpt>::Workspace) == sizeof(TransformerBlock<gpt_block>::Workspace) + 11 * 12 * sizeof(float));
static_assert(sizeof(LanguageModel<gpt>::Cache) == 3 * sizeof(TransformerBlock<gpt_block>::Cache));

// The scratch of a call with a cache is at most eight rows of what is widest.
template <LanguageModelConfig config>
constexpr bool scratch_is_small = [] {
  constexpr BlockConfig block = config.transformer.block;
  std::size_t widest = config.vocabulary;
  for (const std::size_t width : {block.feed_forward.d_model, block.feed_forward.d_hidden, block.attention.context_length})
    widest = width > widest ? width : widest;
  return sizeof(typename LanguageModel<config>::Cache::Workspace) <= 8 * widest * sizeof(float);
}();
constexpr LanguageModelConfig shaped(std::size_t vocabulary, std::size_t d_model, std::size_t d_hidden, std::size_t context, bool gated) {
  return {.vocabulary = vocabulary,
          .transformer = {.block = {.attention = {.d_in = d_model, .d_out = d_model, .context_length = context, .num_heads = 4},
                                    .feed_forward = {.d_model = d_model, .d_hidden = d_hidden, .gated = gated}},
                          .num_layers = 2}};
}
static_assert(scratch_is_small<llama> && scratch_is_small<gpt> && scratch_is_small<post>);
static_assert(scratch_is_small<shaped(512, 64, 172, 512, true)> && scratch_is_small<shaped(32000, 288, 768, 256, true)> &&
              scratch_is_small<shaped(50257, 768, 3072, 1024, false)> && scratch_is_small<shaped(65, 32, 32, 32, true)> &&
              scratch_is_small<shaped(27, 16, 64, 1024, true)> && scratch_is_small<shaped(256, 128, 64, 8, true)>);

constexpr Vector<Token, 11> text{{3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5}};

template <LanguageModelConfig config>
struct Case {
  using Model = LanguageModel<config>;
  using Logits = Vector<float, config.vocabulary>;
  static constexpr std::size_t vocabulary = config.vocabulary;
  static constexpr Logits untouched = full<float, config.vocabulary>(Guarded<float>::untouched);
  static inline Model model;
  static inline Matrix<float, 11, config.vocabulary> expected;
  static inline Guarded<typename Model::Workspace> workspace;
  static inline Guarded<typename Model::Cache> cache;
  static inline Guarded<typename Model::Cache::Workspace> cache_workspace;

  static void prepare() {
    fill(model, 1);
    expected = plain_logits(model, text);
    cache.tensor.clear();
  }

  static void check_whole(Check& check) {
    prepare();
    poison(workspace.tensor.features.elements);
    poison(workspace.tensor.transformer.scratch);
    check_output(check, expected, [&](auto& out) { check.that(model.forward(hidden(text), out, workspace.tensor) == Status::ok); });
    const Vector<Token, 4> start{{text(0), text(1), text(2), text(3)}};
    check_output(check, plain_rows<4>(expected, 0),
                 [&](auto& out) { check.that(model.forward(start, out, workspace.tensor) == Status::ok); });
    const auto none = full<float, 11, config.vocabulary>(Guarded<float>::untouched);
    for (const std::size_t place : {std::size_t{0}, std::size_t{10}}) {
      auto wrong = text;
      wrong(place) = config.vocabulary;
      check_output(check, none, [&](auto& out) { check.that(model.forward(wrong, out, workspace.tensor) == Status::unknown_token); });
    }
    check.that(workspace.guards_hold());
  }

  // A call with a cache says `status`, and makes of its logits those behind the last token, if it is ok and there is one.
  static void call(Check& check, TokenView tokens, Status status) {
    const std::size_t past = cache.tensor.size(), end = past + tokens.size();
    poison(cache_workspace.tensor.scratch);
    check_output(check, status == Status::ok && tokens.size() != 0 ? row(expected, end - 1) : untouched,
                 [&](auto& logits) { check.that(model.forward(tokens, cache.tensor, logits, cache_workspace.tensor) == status); });
    check.equal(cache.tensor.size(), status == Status::ok ? end : past);
  }

  static void check_divided_at_every_token(Check& check) {
    prepare();
    for (std::size_t cut = 0; cut <= 11; ++cut) {
      for (const std::size_t step : {std::size_t{11}, std::size_t{1}}) {
        cache.tensor.clear();
        call(check, {text.data(), cut}, Status::ok);
        // What is wrong changes nothing of what follows.
        const Token wrong[] = {0, 1, config.vocabulary};
        call(check, wrong, cut > 8 ? Status::too_many_tokens : Status::unknown_token);
        call(check, {text.data(), 12 - cut}, Status::too_many_tokens);
        for (std::size_t i = cut; i < 11; i += step) call(check, {text.data() + i, step < 11 - i ? step : 11 - i}, Status::ok);
      }
    }
    check.that(cache.guards_hold() && cache_workspace.guards_hold());
  }
};

constexpr Vector<Token, 3> three{{4, 0, 2}};

constexpr auto tiny_logits_at_once() {
  const auto model = made<LanguageModel<tiny>>(1);
  LanguageModel<tiny>::Workspace workspace{};
  Matrix<float, 3, 5> logits{};
  if (model.forward(three, logits, workspace) != Status::ok) logits = {};
  return logits;
}

constexpr auto tiny_logits_token_by_token() {
  const auto model = made<LanguageModel<tiny>>(1);
  LanguageModel<tiny>::Cache cache{};
  LanguageModel<tiny>::Cache::Workspace workspace{};
  Matrix<float, 3, 5> logits{};
  for (std::size_t i = 0; i < 3; ++i) {
    MatrixView<float, 1, 5, 5> last{logits.data() + i * 5};
    if (model.forward({three.data() + i, 1}, cache, last, workspace) != Status::ok) return Matrix<float, 3, 5>{};
  }
  return logits;
}

constexpr auto tiny_logits = tiny_logits_at_once();
static_assert(tiny_logits == plain_logits(made<LanguageModel<tiny>>(1), three));
static_assert(tiny_logits_token_by_token() == tiny_logits);

constexpr Test tests[] = {
    at_run_time("logits of a text: the bits of plain loops; an unknown token: said so, and nothing is written",
                [](Check& check) {
                  Case<llama>::check_whole(check);
                  Case<gpt>::check_whole(check);
                  Case<post>::check_whole(check);
                }),
    at_run_time("a prompt in one call, in two or token by token: the bits of one call; unknown or too many: nothing changes",
                [](Check& check) {
                  Case<llama>::check_divided_at_every_token(check);
                  Case<gpt>::check_divided_at_every_token(check);
                  Case<post>::check_divided_at_every_token(check);
                }),
    at_run_time("the compiler and this machine agree on a decoder",
                [](Check& check) {
                  check.same_bits(tiny_logits_at_once(), tiny_logits);
                  check.same_bits(tiny_logits_token_by_token(), tiny_logits);
                }),
    at_run_time("tokens of a Vector, arrays, a std::span and {}; logits of a vector, a matrix, a view",
                [](Check& check) {
                  using C = Case<gpt>;
                  C::prepare();
                  auto& scratch = C::cache_workspace.tensor;
                  Guarded<C::Logits> logits;
                  const auto call = [&](const auto& tokens, auto& out) {
                    C::cache.tensor.clear();
                    check.that(C::model.forward(tokens, C::cache.tensor, out, scratch) == Status::ok);
                    check.same_bits(out, row(C::expected, 2));
                  };
                  const Token array[] = {3, 1, 4};
                  Token changing[] = {3, 1, 4};
                  call(Vector<Token, 3>{{3, 1, 4}}, logits.tensor);
                  call(array, logits.tensor);
                  call(std::span<const Token>(array), logits.tensor);
                  call(std::span<Token>(changing), logits.tensor);
                  call(std::array<Token, 3>{3, 1, 4}, logits.tensor);
                  Matrix<float, 1, 7> matrix_row;
                  call(array, matrix_row);
                  float floats[7];
                  MatrixView<float, 1, 7, 7> view{floats};
                  call(array, view);
                  const auto before = logits.tensor;
                  check.that(C::model.forward({}, C::cache.tensor, logits.tensor, scratch) == Status::ok);
                  check.same_bits(logits.tensor, before);
                  check.equal(C::cache.tensor.size(), std::size_t{3});
                  check.that(logits.guards_hold());
                }),
    at_run_time("a NaN in the embedding of a later token does not leak, nor what a cache has forgotten",
                [](Check& check) {
                  using C = Case<llama>;
                  C::prepare();
                  for (std::size_t j = 0; j < 12; ++j) C::model.token_embedding.weight(9, j) = quiet_nan;
                  Vector<Token, 11> tokens = text;
                  tokens(10) = 9;
                  static Matrix<float, 11, 10> logits;
                  check.that(C::model.forward(tokens, logits, C::workspace.tensor) == Status::ok);
                  check.same_bits(plain_rows<10>(logits, 0), plain_rows<10>(C::expected, 0));
                  for (std::size_t j = 0; j < 10; ++j) check.that(logits(10, j) != logits(10, j));
                  C::Logits ignored;
                  check.that(C::model.forward(tokens, C::cache.tensor, ignored, C::cache_workspace.tensor) == Status::ok);
                  C::cache.tensor.clear();
                  for (std::size_t i = 0; i < 10; ++i) C::call(check, {text.data() + i, 1}, Status::ok);
                }),
    at_run_time("first weights: the transformer's, then the head's; the embeddings are left alone",
                [](Check& check) {
                  const auto check_first = [&](auto& model) {
                    Mt19937 generator(6), same(6);
                    const auto embedding = model.token_embedding;
                    static auto transformer = model.transformer;
                    initialize(model, generator);
                    initialize(transformer, same);
                    check.that(model.token_embedding == embedding && model.transformer == transformer);
                    if constexpr (requires { model.head.weight; }) {
                      auto head = model.head;
                      initialize(head, same);
                      check.that(model.head == head);
                    }
                    check.equal(uniform(generator, 0.0f, 1.0f), uniform(same, 0.0f, 1.0f));
                  };
                  Case<llama>::prepare();
                  check_first(Case<llama>::model);
                  Case<gpt>::prepare();
                  check_first(Case<gpt>::model);
                }),
};

}  // namespace

int main() { return run(tests); }
