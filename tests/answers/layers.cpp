// SPDX-License-Identifier: MIT
//
// Layers, blocks and language models of drawn shapes, with and without a cache. Workspaces and caches have exactly their size, lie between
// guards longer than any row and begin as garbage; outputs do not depend on how a text is divided; language models have the compiled
// library's bits. Query heads share key heads, d_hidden is small next to the context, and texts fill it, or run over several windows.
#define GUARD_FLOATS 1024
#include "catalogue/case.hpp"
#include "model_in_c.hpp"
#include "unit/divided.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr AttentionConfig draw_attention(Random& random) {
  const Size num_kv_heads = 1 + random.below(3), num_heads = num_kv_heads * random.one_of({1u, 2u, 4u, 8u});
  const Size head_dim = random.one_of({1u, 2u, 4u, 6u, 8u}), width = num_heads * head_dim, window = random.one_of({0u, 0u, 3u, 9u, 17u});
  const bool is_int8 = random.one_in(2);
  return {.d_in = width,
          .d_out = width,
          .context_length = window == 0 ? 20 + random.below(40) : 1 + random.below(3 * window),
          .num_heads = num_heads,
          .num_kv_heads = num_kv_heads,
          .rotary = head_dim % 2 != 0 ? Rotary::none : static_cast<Rotary>(random.below(3)),
          .weights = is_int8 ? Weights::int8 : Weights::f32,
          .cache = is_int8 && random.one_in(2) ? Weights::int8 : Weights::f32,
          .window = window};
}
constexpr BlockConfig draw_block(Random& random) {
  const AttentionConfig attention = draw_attention(random);
  return {.attention = attention,
          .feed_forward = {.d_model = attention.d_out,
                           .d_hidden = 1 + random.below(8),
                           .activation = Activation::silu,
                           .gated = random.one_in(2),
                           .weights = attention.weights},
          .norm_first = random.one_in(2)};
}
constexpr LanguageModelConfig draw_model(Random& random) {
  const BlockConfig block = draw_block(random);
  return {.vocabulary = 2 + random.below(20),
          .transformer = {.block = block, .num_layers = 2},
          .positions = Positions::none,
          .tied = random.one_in(2),
          .weights = block.attention.weights};
}

template <auto draw, std::uint64_t seed>
constexpr auto drawn_config = [] {
  Random random(seed);
  return draw(random);
}();
template <std::uint64_t seed>
constexpr AttentionConfig attention_of = drawn_config<draw_attention, seed>;
template <std::uint64_t seed>
constexpr BlockConfig block_of = drawn_config<draw_block, 100 + seed>;
template <std::uint64_t seed>
constexpr LanguageModelConfig model_of = drawn_config<draw_model, 200 + seed>;

// Cases of their own: GCC 12 crashes where an alias takes parts of a pack.
template <AttentionConfig config>
struct OfAttention : Divided<MultiHeadAttention<config>, config.context_length, config.d_in> {};
template <BlockConfig config>
struct OfBlock : Divided<TransformerBlock<config>, config.attention.context_length, config.feed_forward.d_model> {};
template <LanguageModelConfig config>
struct OfModel : DividedText<config, config.transformer.block.attention.context_length> {
  void operator()(Draw& draw, Check& check) noexcept {
    constexpr Size count = config.transformer.block.attention.context_length;
    DividedText<config, count>::operator()(draw, check);
    ModelInC<config> by_library(this->model);
    check.equal(by_library.read(this->tokens.data(), count), TINYATTN_OK);
    check.same_bits(by_library.logits, row(this->logits.tensor, count - 1));
    check_texts(check, this->model, this->cache.tensor, this->last.tensor, this->cache_workspace.tensor);
  }
};

// These seeds draw weights and caches of both types, each with a window and without, for heads that share keys.
constexpr Test tests[] = {
    at_run_time("attention layers", all<OfAttention<attention_of<0>>, OfAttention<attention_of<1>>, OfAttention<attention_of<3>>,
                                        OfAttention<attention_of<4>>, OfAttention<attention_of<6>>, OfAttention<attention_of<8>>>),
    at_run_time("blocks", all<OfBlock<block_of<1>>, OfBlock<block_of<2>>, OfBlock<block_of<4>>, OfBlock<block_of<7>>>),
    at_run_time("language models, as by the compiled library, and their texts",
                all<OfModel<model_of<1>>, OfModel<model_of<2>>, OfModel<model_of<4>>, OfModel<model_of<5>>, OfModel<model_of<6>>>),
};

}  // namespace

int main() { return run(tests); }
