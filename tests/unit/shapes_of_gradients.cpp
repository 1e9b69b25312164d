// SPDX-License-Identifier: MIT
//
// Backward passes of attention, layers and blocks, of shapes around blocks, tiles and the lanes of a sum.
#include "catalogue/gradients_of_attention.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend(Check& check) {
  as_in_plain_loops<
      Gradients<OneHeadGradient<patterned<NoMask>, Tokens, SourceTokens, KeyDim, ValueDim>>,
      Gradients<OneHeadGradient<patterned<CausalBottomRight>, Tokens, SourceTokens, KeyDim, ValueDim>>,
      Gradients<OneHeadGradient<with_a_masked_query<KeepMask<Tokens, SourceTokens>>, Tokens, SourceTokens, KeyDim, ValueDim>>>(check);
}

// Of each number of tokens up to the context.
template <AttentionConfig config>
void layer(Check& check) {
  as_in_plain_loops<EachCount<LayerGradient<config, config.context_length>>>(check);
}
template <std::size_t... Heads>
void widths(Check& check) {
  (layer<AttentionConfig{.d_in = 5, .d_out = Heads, .context_length = 17, .num_heads = Heads}>(check), ...);
  (layer<AttentionConfig{.d_in = 3, .d_out = 3 * Heads, .context_length = 17, .num_heads = Heads, .causal = false}>(check), ...);
  (layer<AttentionConfig{.d_in = 2, .d_out = 8 * Heads, .context_length = 17, .num_heads = Heads, .qkv_bias = true}>(check), ...);
  (layer<AttentionConfig{.d_in = 1, .d_out = 16 * Heads, .context_length = 17, .num_heads = Heads, .out_proj = false}>(check), ...);
}

constexpr AttentionConfig with(AttentionConfig config, Rotary rotary, std::size_t window) {
  config.rotary = rotary;
  config.window = window;
  return config;
}
constexpr AttentionConfig grouped = {.d_in = 7, .d_out = 16, .context_length = 20, .num_heads = 4, .num_kv_heads = 2};
constexpr AttentionConfig shared = {.d_in = 16, .d_out = 18, .context_length = 33, .num_heads = 3, .num_kv_heads = 1};
constexpr BlockConfig norms_first = {.attention = {.d_in = 15, .d_out = 15, .context_length = 17, .num_heads = 3},
                                     .feed_forward = {.d_model = 15, .d_hidden = 31}};
constexpr BlockConfig norms_last = {.attention = {.d_in = 17, .d_out = 17, .context_length = 18},
                                    .feed_forward = {.d_model = 17, .d_hidden = 16, .activation = Activation::silu, .gated = true},
                                    .normalization = Normalization::rms,
                                    .norm_first = false};

constexpr Test tests[] = {
    at_run_time("attention of shapes that are small somewhere, and of several blocks",
                [](Check& check) {
                  attend<1, 1, 1, 1>(check), attend<1, 33, 2, 3>(check), attend<33, 1, 3, 2>(check), attend<2, 2, 8, 1>(check);
                  attend<3, 16, 5, 16>(check), attend<4, 15, 6, 17>(check), attend<9, 17, 7, 15>(check), attend<15, 15, 8, 8>(check);
                  attend<16, 32, 4, 4>(check), attend<17, 17, 1, 33>(check), attend<31, 33, 8, 5>(check), attend<33, 31, 33, 9>(check);
                }),
    at_run_time("keys and features around 48 and 64",
                [](Check& check) {
                  attend<5, 47, 3, 1>(check), attend<5, 48, 3, 1>(check), attend<5, 49, 3, 1>(check), attend<5, 63, 3, 1>(check);
                  attend<5, 64, 3, 1>(check), attend<5, 65, 3, 1>(check);
                  attend<3, 5, 47, 4>(check), attend<3, 5, 48, 48>(check), attend<3, 5, 4, 49>(check);
                }),
    at_run_time("layers: each number of tokens, heads of each width", widths<1, 2, 3, 4>),
    at_run_time("layers: shared keys, positions, windows",
                [](Check& check) {
                  layer<with(grouped, Rotary::none, 0)>(check), layer<with(grouped, Rotary::halves, 3)>(check);
                  layer<with(grouped, Rotary::interleaved, 0)>(check), layer<with(shared, Rotary::interleaved, 5)>(check);
                  layer<with(shared, Rotary::halves, 0)>(check), layer<with(shared, Rotary::none, 17)>(check);
                  layer<with(shared, Rotary::none, 1)>(check);
                }),
    at_run_time("blocks: each number of tokens",
                as_in_plain_loops<EachCount<BlockGradient<norms_first, 17>>, EachCount<BlockGradient<norms_last, 18>>>),
};

}  // namespace

int main() { return run(tests); }
