// SPDX-License-Identifier: MIT
//
// Attention and its layers, of shapes around blocks, tiles and the lanes of a sum.
#include "catalogue/attention.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Attention without a mask, and causal.
template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend(Check& check) {
  as_in_plain_loops<Attention<NoMask, Tokens, SourceTokens, KeyDim, ValueDim>, Attention<Causal, Tokens, SourceTokens, KeyDim, ValueDim>>(
      check);
}

// Self-attention or cross-attention of a layer, with weights and without.
template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens = Tokens>
void layer(Check& check) {
  as_in_plain_loops<CrossForward<config, Tokens, SourceTokens>>(check);
}

constexpr Test tests[] = {
    at_run_time("attention of shapes that are small somewhere, and of several blocks",
                [](Check& check) {
                  attend<1, 1, 1, 1>(check), attend<1, 33, 2, 3>(check), attend<33, 1, 3, 2>(check), attend<2, 2, 8, 1>(check);
                  attend<3, 16, 5, 16>(check), attend<4, 15, 6, 17>(check), attend<9, 17, 7, 15>(check), attend<15, 15, 8, 8>(check);
                  attend<16, 32, 4, 4>(check), attend<17, 17, 1, 33>(check), attend<31, 33, 8, 5>(check), attend<33, 31, 3, 9>(check);
                }),
    at_run_time("keys and features around 48 and 64",
                [](Check& check) {
                  attend<5, 47, 3, 1>(check), attend<5, 48, 3, 1>(check), attend<5, 49, 3, 1>(check), attend<5, 63, 3, 1>(check);
                  attend<5, 64, 3, 1>(check), attend<5, 65, 3, 1>(check);
                  attend<3, 5, 4, 47>(check), attend<3, 5, 4, 48>(check), attend<3, 5, 4, 49>(check);
                }),
    at_run_time("layers: one of everything",
                [](Check& check) {
                  layer<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 1}, 1>(check);
                  layer<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 9, .causal = false, .out_proj = false}, 9>(check);
                  layer<AttentionConfig{.d_in = 5, .d_out = 3, .context_length = 4, .num_heads = 3, .qkv_bias = true}, 1>(check);
                  layer<AttentionConfig{.d_in = 2, .d_out = 17, .context_length = 17, .num_heads = 17}, 17>(check);
                }),
    at_run_time("layers: widths around sixteen",
                [](Check& check) {
                  layer<AttentionConfig{.d_in = 15, .d_out = 15, .context_length = 16, .num_heads = 5, .out_bias = false}, 16>(check);
                  layer<AttentionConfig{.d_in = 16, .d_out = 16, .context_length = 20, .num_heads = 2, .causal = false}, 15>(check);
                  layer<AttentionConfig{.d_in = 17, .d_out = 18, .context_length = 17, .num_heads = 3, .qkv_bias = true}, 17>(check);
                }),
    at_run_time("layers: lengths around thirty-two, and lengths that differ",
                [](Check& check) {
                  layer<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 31, .num_heads = 2}, 31>(check);
                  layer<AttentionConfig{.d_in = 4, .d_out = 8, .context_length = 33, .num_heads = 4, .causal = false}, 32>(check);
                  layer<AttentionConfig{.d_in = 8, .d_out = 6, .context_length = 40, .num_heads = 2, .out_proj = false}, 33>(check);
                  layer<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 33, .num_heads = 2, .causal = false}, 1, 33>(check);
                  layer<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 33, .num_heads = 2, .causal = false}, 33, 1>(check);
                  layer<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 20, .num_heads = 3}, 18, 7>(check);
                  layer<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 20, .num_heads = 1}, 7, 18>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
