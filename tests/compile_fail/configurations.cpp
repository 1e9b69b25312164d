// SPDX-License-Identifier: MIT
//
// Impossible layers.
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Huge = MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 4, .context_length = std::size_t{1} << 60}>;

// expect: d_in and d_out must not be zero
// lines: 80
MultiHeadAttention<AttentionConfig{.d_in = 0, .d_out = 4, .context_length = 6}> no_features;

// expect: context_length must not be zero
CausalAttention<3, 2, 0> no_context;

// expect: num_heads must not be zero
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 0}> no_heads;
StackedCausalAttention<3, 2, 6, 0> no_stacked_heads;

// expect: d_out must be divisible by num_heads
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 5, .context_length = 6, .num_heads = 2}> d_out_not_divisible;

// expect: dropout must lie in [0, 1]
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .dropout = 1.5}> dropout_rate_above_one;

// expect: residual_dropout must lie in [0, 1]
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .residual_dropout = -0.1}> residual_dropout_rate_below_zero;

// expect: a workspace has more bytes than this target can address
// lines: 40
// 2^60 tokens of 4 floats each: the byte count overflows std::size_t
const std::size_t too_large_workspace = sizeof(Huge::Workspace);
