// SPDX-License-Identifier: MIT
//
// Layers, blocks and language models of drawn shapes, with and without a cache: memory of exactly the size of a Workspace or a Cache lies
// between guards as long as any row, begins as NaN, and outputs have the bits of plain loops. Query heads share key heads, hidden features
// are few next to the context, and texts reach its end, or go over several windows.
#define GUARD_FLOATS 1024
#include "catalogue/models.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

class DrawnShape {
 public:
  constexpr explicit DrawnShape(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}

  constexpr std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state_ >> 33) % bound);
  }
  constexpr std::size_t one_of(std::initializer_list<std::size_t> choices) { return choices.begin()[below(choices.size())]; }

  // Heads, tokens and a window, which may be 0.
  constexpr AttentionConfig attention() {
    const std::size_t num_kv_heads = 1 + below(3), num_heads = num_kv_heads * one_of({1, 2, 4, 8}), head_dim = one_of({1, 2, 4, 6, 8});
    const std::size_t width = num_heads * head_dim, window = one_of({0, 0, 3, 9, 17});
    const bool is_int8 = below(3) == 0;
    return {.d_in = width,
            .d_out = width,
            .context_length = window == 0 ? 1 + below(60) : 1 + below(3 * window),
            .num_heads = num_heads,
            .num_kv_heads = num_kv_heads,
            .rotary = head_dim % 2 != 0 ? Rotary::none : static_cast<Rotary>(below(3)),
            .weights = is_int8 ? Weights::int8 : Weights::f32,
            .cache = is_int8 && below(2) == 0 ? Weights::int8 : Weights::f32,
            .window = window};
  }
  constexpr BlockConfig block() {
    const AttentionConfig of_attention = attention();
    return {.attention = of_attention,
            .feed_forward = {.d_model = of_attention.d_out,
                             .d_hidden = 1 + below(12),
                             .activation = Activation::silu,
                             .gated = below(2) == 0,
                             .weights = of_attention.weights},
            .norm_first = below(2) == 0};
  }
  constexpr LanguageModelConfig model() {
    const BlockConfig of_block = block();
    return {.vocabulary = 2 + below(20),
            .transformer = {.block = of_block, .num_layers = 2},
            .positions = Positions::none,
            .tied = below(2) == 0,
            .weights = of_block.attention.weights};
  }

 private:
  std::uint64_t state_;
};

template <std::uint64_t seed>
constexpr AttentionConfig attention_of = DrawnShape(seed).attention();
template <std::uint64_t seed>
constexpr BlockConfig block_of = DrawnShape(seed).block();
template <std::uint64_t seed>
constexpr LanguageModelConfig model_of = DrawnShape(seed).model();

// Cases of their own: GCC 12 crashes where an alias takes parts of a pack.
template <AttentionConfig config>
struct OfAttention : Divided<MultiHeadAttention<config>, config.context_length, config.d_in> {};
template <BlockConfig config>
struct OfBlock : Divided<TransformerBlock<config>, config.attention.context_length, config.feed_forward.d_model> {};
template <LanguageModelConfig config>
struct OfModel : DividedText<config, config.transformer.block.attention.context_length> {};

constexpr AttentionConfig not_causal(AttentionConfig config) noexcept {
  config.causal = false;
  config.window = 0;
  return config;
}
template <AttentionConfig config>
struct OfCross : CrossForward<config, config.context_length, config.context_length / 2 + 1> {};
template <FeedForwardConfig config>
struct OfFeedForward : FeedForwardOf<config, 37> {};

constexpr Test tests[] = {
    at_run_time("attention layers",
                as_in_plain_loops<OfAttention<attention_of<1>>, OfAttention<attention_of<2>>, OfAttention<attention_of<3>>,
                                  OfAttention<attention_of<4>>, OfAttention<attention_of<5>>, OfAttention<attention_of<6>>>),
    at_run_time("cross-attention", as_in_plain_loops<OfCross<not_causal(attention_of<7>)>, OfCross<not_causal(attention_of<8>)>>),
    at_run_time("feed-forward parts", as_in_plain_loops<OfFeedForward<block_of<4>.feed_forward>, OfFeedForward<block_of<5>.feed_forward>>),
    at_run_time("blocks", as_in_plain_loops<OfBlock<block_of<1>>, OfBlock<block_of<2>>, OfBlock<block_of<3>>>),
    at_run_time("language models", as_in_plain_loops<OfModel<model_of<1>>, OfModel<model_of<2>>, OfModel<model_of<3>>>),
};

}  // namespace

int main() { return run(tests); }
