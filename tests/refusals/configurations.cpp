// SPDX-License-Identifier: MIT
//
// Layers that there cannot be.
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

// --- no_features: tokens without features
// expect: d_in and d_out must not be zero
// lines: 80
MultiHeadAttention<AttentionConfig{.d_in = 0, .d_out = 4, .context_length = 6}> layer;

// --- no_context: a layer for no tokens at all
// expect: context_length must not be zero
CausalAttention<3, 2, 0> layer;

// --- no_heads: a layer without heads
// expect: num_heads must not be zero
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 0}> layer;

// --- no_stacked_heads: a stack of no heads
// expect: num_heads must not be zero
StackedCausalAttention<3, 2, 6, 0> layer;

// --- d_out_not_divisible: five columns cannot be split between two heads
// expect: d_out must be divisible by num_heads
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 5, .context_length = 6, .num_heads = 2}> layer;

// --- dropout_rate_above_one: a rate is no percentage
// expect: dropout must lie in [0, 1]
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .dropout = 1.5}> layer;

// --- residual_dropout_rate_below_zero: nothing is dropped less than never
// expect: residual_dropout must lie in [0, 1]
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .residual_dropout = -0.1}> layer;

// --- too_large_workspace: 2^60 tokens of 4 numbers each, of which a size would keep few
// expect: a workspace has more bytes than this target can address
// lines: 40
using Layer = MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 4, .context_length = std::size_t{1} << 60}>;
const std::size_t size = sizeof(Layer::Workspace);
