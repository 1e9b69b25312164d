// SPDX-License-Identifier: MIT
//
// A rate is no percentage.
//
// expect: dropout must lie in [0, 1]
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .dropout = 1.5}> layer;
