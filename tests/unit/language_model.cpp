// SPDX-License-Identifier: MIT
//
// Language models of three kinds: logits have the bits of plain loops, however a text is divided; wrong tokens give an error; and the
// compiler evaluates a whole decoder. Large objects are static, since a board has little stack.
#include "catalogue/models.hpp"
#include "catalogue/twin.hpp"

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
static_assert(LanguageModel<gpt>::parameter_count == 7 * 12 + 11 * 12 + body_count<gpt>);
static_assert(LanguageModel<llama>::parameter_count == 10 * 12 + body_count<llama> + 12 * 10);
static_assert(LanguageModel<post>::parameter_count == 33 * 12 + body_count<post> + 12 * 33 + 33);
static_assert(LanguageModel<gpt>::context_length == 11);
// A model holds its weights and an epsilon for each norm; absent members take no space.
static_assert(sizeof(LanguageModel<gpt>) == sizeof(float) * (LanguageModel<gpt>::parameter_count + 7));
static_assert(sizeof(LanguageModel<post>) == sizeof(float) * (LanguageModel<post>::parameter_count + 4));

// A workspace holds the scratch of one block and the features; a cache holds that of each block.
static_assert(sizeof(LanguageModel<gpt>::Workspace) == sizeof(TransformerBlock<gpt_block>::Workspace) + 11 * 12 * sizeof(float));
static_assert(sizeof(LanguageModel<gpt>::Cache) == 3 * sizeof(TransformerBlock<gpt_block>::Cache));

// The scratch of a call with a cache is at most eight rows of the widest matrix.
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

// A model with random weights, and a text of valid tokens, as many as its cache holds.
template <LanguageModelConfig config>
struct Reader {
  using Model = LanguageModel<config>;
  using Logits = Vector<float, config.vocabulary>;
  static constexpr Logits untouched = full<float, config.vocabulary>(Guarded<float>::untouched);

  Model model = drawn<Model>(1);
  Vector<Token, 11> text{{3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5}};
  typename Model::Workspace workspace{};
  typename Model::Cache cache{};
  typename Model::Cache::Workspace cache_workspace{};
  Matrix<float, 11, config.vocabulary> expected{};

  Reader() {
    if (model.forward(text, expected, workspace) != Status::ok) __builtin_trap();
  }

  // Checks a call with a cache: it returns `status`, writes `logits`, and leaves `size` tokens in the cache.
  void check_call(Check& check, TokenView tokens, Status status, const Logits& logits, std::size_t size) {
    check_output(check, logits, [&](auto& out) { check.that(model.forward(tokens, cache, out, cache_workspace) == status); });
    check.equal(cache.size(), size);
  }
};

template <LanguageModelConfig config>
void check_wrong_tokens(Check& check) {
  static Reader<config> reader;
  const auto none = full<float, 11, config.vocabulary>(Guarded<float>::untouched);
  for (const std::size_t place : {std::size_t{0}, std::size_t{10}}) {
    auto wrong = reader.text;
    wrong(place) = config.vocabulary;
    check_output(check, none, [&](auto& out) { check.that(reader.model.forward(wrong, out, reader.workspace) == Status::unknown_token); });
  }
  // A wrong call changes nothing for the calls after it.
  reader.cache.clear();
  const Token* const tokens = reader.text.data();
  const Token wrong[] = {0, 1, config.vocabulary};
  for (std::size_t i = 0; i < 11; ++i) {
    reader.check_call(check, wrong, i > 8 ? Status::too_many_tokens : Status::unknown_token, reader.untouched, i);
    reader.check_call(check, {tokens, 12 - i}, Status::too_many_tokens, reader.untouched, i);
    reader.check_call(check, {}, Status::ok, reader.untouched, i);
    reader.check_call(check, {tokens + i, 1}, Status::ok, row(reader.expected, i), i + 1);
  }
}

template <LanguageModelConfig config>
void check_first_weights(Check& check) {
  static Reader<config> reader;
  auto& model = reader.model;
  Mt19937 generator(6), same(6);
  const auto embedding = model.token_embedding;
  static auto transformer = model.transformer;
  initialize(model, generator);
  initialize(transformer, same);
  check.that(model.token_embedding == embedding && model.transformer == transformer);
  if constexpr (!config.tied) {
    auto head = model.head;
    initialize(head, same);
    check.that(model.head == head);
  }
  check.equal(uniform(generator, 0.0f, 1.0f), uniform(same, 0.0f, 1.0f));
}

constexpr Test tests[] = {
    at_run_time("a text in one call, in two or token by token",
                as_in_plain_loops<DividedText<llama, 11>, DividedText<gpt, 11>, DividedText<post, 11>, DividedText<gpt, 4>>),
    everywhere("a decoder in the compiler", as_in_plain_loops<DividedText<tiny, 3>>),
    at_run_time("unknown or too many tokens: nothing is written, and nothing changes",
                [](Check& check) {
                  check_wrong_tokens<llama>(check);
                  check_wrong_tokens<gpt>(check);
                  check_wrong_tokens<post>(check);
                }),
    at_run_time("tokens of a Vector, arrays, a std::span and {}; logits of a vector, a matrix, a view",
                [](Check& check) {
                  static Reader<gpt> reader;
                  Reader<gpt>::Logits logits{};
                  const auto call = [&](const auto& tokens, auto& out) {
                    reader.cache.clear();
                    check.that(reader.model.forward(tokens, reader.cache, out, reader.cache_workspace) == Status::ok);
                    check.same_bits(out, row(reader.expected, 2));
                  };
                  const Token array[] = {3, 1, 4};
                  Token changing[] = {3, 1, 4};
                  call(Vector<Token, 3>{{3, 1, 4}}, logits);
                  call(array, logits);
                  call(std::span<const Token>(array), logits);
                  call(std::span<Token>(changing), logits);
                  call(std::array<Token, 3>{3, 1, 4}, logits);
                  Matrix<float, 1, 7> matrix_row;
                  call(array, matrix_row);
                  float floats[7];
                  MatrixView<float, 1, 7, 7> view{floats};
                  call(array, view);
                }),
    at_run_time("a NaN in the embedding of a later token does not leak, nor what a cache has forgotten",
                [](Check& check) {
                  static Reader<llama> reader;
                  for (std::size_t j = 0; j < 12; ++j) reader.model.token_embedding.weight(9, j) = quiet_nan;
                  auto tokens = reader.text;
                  tokens(10) = 9;
                  static Matrix<float, 11, 10> logits;
                  check.that(reader.model.forward(tokens, logits, reader.workspace) == Status::ok);
                  for (std::size_t i = 0; i < 10; ++i) check.same_bits(row(logits, i), row(reader.expected, i));
                  for (std::size_t j = 0; j < 10; ++j) check.that(logits(10, j) != logits(10, j));
                  Reader<llama>::Logits ignored;
                  check.that(reader.model.forward(tokens, reader.cache, ignored, reader.cache_workspace) == Status::ok);
                  reader.cache.clear();
                  for (std::size_t i = 0; i < 10; ++i)
                    reader.check_call(check, {reader.text.data() + i, 1}, Status::ok, row(reader.expected, i), i + 1);
                }),
    at_run_time("first weights: the transformer's, then the head's; the embeddings are left alone",
                [](Check& check) {
                  check_first_weights<llama>(check);
                  check_first_weights<gpt>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
