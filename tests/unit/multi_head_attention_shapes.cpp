// SPDX-License-Identifier: MIT
//
// Attention layers of many shapes against plain loops bit for bit, between guards; and how much scratch a layer asks for.
#include "plain_layer.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <AttentionConfig config>
using Layer = MultiHeadAttention<config>;

// Keys in rows of whole vectors, values, at most 96 rows that are projected, and the scores of at most sixteen queries, whatever
// the port.
template <AttentionConfig config>
constexpr bool scratch_is_bounded = sizeof(typename Layer<config>::Workspace) <=
                                    sizeof(float) * ((config.context_length + 15) * config.d_out + config.context_length * config.d_out +
                                                     96 * config.d_out + 16 * (config.context_length + 15));

consteval AttentionConfig of_length(std::size_t context_length) {
  return {.d_in = 64, .d_out = 64, .context_length = context_length, .num_heads = 4};
}

static_assert(scratch_is_bounded<of_length(1)> && scratch_is_bounded<of_length(32)> && scratch_is_bounded<of_length(4096)>);
static_assert(scratch_is_bounded<AttentionConfig{.d_in = 512, .d_out = 512, .context_length = 2048, .num_heads = 8}>);
// Twice the tokens, at most twice the scratch: nothing grows with the square of the tokens.
static_assert(sizeof(Layer<of_length(4096)>::Workspace) <= 2 * sizeof(Layer<of_length(2048)>::Workspace));
static_assert(alignof(Layer<of_length(32)>::Workspace) == alignof(float));

template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens = Tokens>
[[gnu::noinline]] void check_shape(Check& check) {
  static Layer<config> layer;
  static Guarded<typename Layer<config>::Workspace> workspace;
  layer = filled<Layer<config>>(Tokens);
  const auto x = hidden(numbers<Matrix<float, Tokens, config.d_in>>(SourceTokens));
  const auto memory = hidden(numbers<Matrix<float, SourceTokens, config.d_in>>(SourceTokens));
  const auto plain = plain_forward(layer, x, memory, memory, [](std::size_t i, std::size_t j) { return !config.causal || j <= i; });
  check_outputs(check, plain,
                [&](auto& out, auto& weights) { layer.forward_with_weights(x, memory, memory, out, weights, workspace.tensor); });
  check_output(check, plain.out, [&](auto& out) { layer.forward(x, memory, memory, out, workspace.tensor); });
  check.that(workspace.guards_hold());
}

constexpr Test tests[] = {
    at_run_time("one of everything",
                [](Check& check) {
                  check_shape<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 1}, 1>(check);
                  check_shape<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 9, .causal = false, .out_proj = false}, 9>(check);
                  check_shape<AttentionConfig{.d_in = 5, .d_out = 3, .context_length = 4, .num_heads = 3, .qkv_bias = true}, 1>(check);
                  check_shape<AttentionConfig{.d_in = 2, .d_out = 17, .context_length = 17, .num_heads = 17}, 17>(check);
                }),
    at_run_time("widths around sixteen",
                [](Check& check) {
                  check_shape<AttentionConfig{.d_in = 15, .d_out = 15, .context_length = 16, .num_heads = 5, .out_bias = false}, 16>(check);
                  check_shape<AttentionConfig{.d_in = 16, .d_out = 16, .context_length = 20, .num_heads = 2, .causal = false}, 15>(check);
                  check_shape<AttentionConfig{.d_in = 17, .d_out = 18, .context_length = 17, .num_heads = 3, .qkv_bias = true}, 17>(check);
                }),
    at_run_time("lengths around thirty-two",
                [](Check& check) {
                  check_shape<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 31, .num_heads = 2}, 31>(check);
                  check_shape<AttentionConfig{.d_in = 4, .d_out = 8, .context_length = 33, .num_heads = 4, .causal = false}, 32>(check);
                  check_shape<AttentionConfig{.d_in = 8, .d_out = 6, .context_length = 40, .num_heads = 2, .out_proj = false}, 33>(check);
                }),
    at_run_time("lengths that differ",
                [](Check& check) {
                  check_shape<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 33, .num_heads = 2, .causal = false}, 1, 33>(check);
                  check_shape<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 33, .num_heads = 2, .causal = false}, 33, 1>(check);
                  check_shape<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 20, .num_heads = 3}, 18, 7>(check);
                  check_shape<AttentionConfig{.d_in = 4, .d_out = 6, .context_length = 20, .num_heads = 1}, 7, 18>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
