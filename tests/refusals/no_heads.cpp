// SPDX-License-Identifier: MIT
//
// A layer without heads.
//
// expect: num_heads must not be zero
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 0}> layer;
