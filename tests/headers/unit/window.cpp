// SPDX-License-Identifier: MIT
//
// A language model with a window reads an endless text in constant memory: a million tokens, or 2,000 on a board and where nothing is
// optimized, as with sanitizers.
#include "catalogue/case.hpp"
#include "tinyattn/language_model.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr std::size_t window = 32, layers = 2, seen = layers * (window - 1) + 1;  // tokens on which the last one depends

#ifdef __OPTIMIZE__
constexpr bool is_fast = __STDC_HOSTED__;
#else
constexpr bool is_fast = false;
#endif

template <Rotary rotary, Weights cache, std::size_t context_length = 1>
constexpr LanguageModelConfig model_of{
    .vocabulary = 11,
    .transformer = {.block = {.attention = {.d_in = 4,
                                            .d_out = 4,
                                            .context_length = context_length,
                                            .num_heads = 2,
                                            .rotary = rotary,
                                            .cache = cache,
                                            .window = window},
                              .feed_forward = {.d_model = 4, .d_hidden = 5, .activation = Activation::relu}},
                    .num_layers = layers},
    .positions = Positions::none};

constexpr Token token_at(std::size_t position) { return static_cast<Token>((position * 7 + position / 13) % 11); }

// Compares the last logits with a second cache, which has read only the tokens on which they depend: a window per layer.
template <Rotary rotary, Weights of_cache, std::size_t tokens_of_desk>
void check_long_text(Check& check) {
  constexpr std::size_t num_tokens = is_fast ? tokens_of_desk : 2'000;
  using Model = LanguageModel<model_of<rotary, of_cache>>;
  struct State {
    Model model = drawn<Model>(1);
    typename Model::Cache all{}, last{};
    typename Model::Cache::Workspace workspace{};
  };
  static_assert(fits<State>);
  State& state = *new (memory) State;
  Vector<float, 11> logits{}, expected{};
  const auto read = [&](std::size_t position, auto& cache, auto& to) {
    const Token token = token_at(position);
    check.that(state.model.forward(TokenView(&token, 1), cache, to, state.workspace) == Status::ok);
  };
  for (std::size_t i = 0; i < num_tokens; ++i) read(i, state.all, logits);
  constexpr std::size_t first = num_tokens - seen;
  for (auto& block : state.last.blocks) block.num_tokens = first;
  for (std::size_t i = first; i < num_tokens; ++i) read(i, state.last, expected);
  check.same_bits(logits, expected);
  check.equal(state.all.size(), num_tokens);
}

#if __STDC_HOSTED__  // it does not fit into the smallest board
// Without positions they equal a call without a cache on these tokens, whose mask is a band.
void check_band(Check& check) {
  using Model = LanguageModel<model_of<Rotary::none, Weights::f32>>;
  using Band = LanguageModel<model_of<Rotary::none, Weights::f32, seen>>;
  struct State {
    Model model = drawn<Model>(1);
    Band band = drawn<Band>(1);
    typename Model::Cache cache{};
    typename Model::Cache::Workspace workspace{};
    typename Band::Workspace workspace_of_band{};
    Matrix<float, seen, 11> logits_of_band{};
  };
  static_assert(fits<State>);
  State& state = *new (memory) State;
  constexpr std::size_t num_tokens = 1'000;
  Vector<float, 11> logits{};
  Vector<Token, seen> tokens{};
  for (std::size_t i = 0; i < num_tokens; ++i) {
    const Token token = token_at(i);
    if (i >= num_tokens - seen) tokens(i - (num_tokens - seen)) = token;
    check.that(state.model.forward(TokenView(&token, 1), state.cache, logits, state.workspace) == Status::ok);
  }
  check.that(state.band.forward(tokens, state.logits_of_band, state.workspace_of_band) == Status::ok);
  check.same_bits(logits, row(state.logits_of_band, seen - 1));
}
#endif

constexpr Test tests[] = {
#if __STDC_HOSTED__
    at_run_time("the last logits of a long text, as by a mask that is a band", check_band),
#endif
    at_run_time("a text without positions", check_long_text<Rotary::none, Weights::f32, 20'000>),
    at_run_time("with rotary positions", check_long_text<Rotary::halves, Weights::f32, 1'000'000>),
    at_run_time("with rotary positions and a cache of int8", check_long_text<Rotary::interleaved, Weights::int8, 20'000>),
};

}  // namespace

int main() { return run(tests); }
