// SPDX-License-Identifier: MIT
//
// Nothing is dropped less than never.
//
// expect: residual_dropout must lie in [0, 1]
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .residual_dropout = -0.1}> layer;
