// SPDX-License-Identifier: MIT
//
// Tokens without features.
//
// expect: d_in and d_out must not be zero
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

MultiHeadAttention<AttentionConfig{.d_in = 0, .d_out = 4, .context_length = 6}> layer;
