// SPDX-License-Identifier: MIT
//
// Five columns cannot be split between two heads.
//
// expect: d_out must be divisible by num_heads
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 5, .context_length = 6, .num_heads = 2}> layer;
