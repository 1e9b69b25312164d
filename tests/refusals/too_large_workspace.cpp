// SPDX-License-Identifier: MIT
//
// 2^60 tokens of 4 numbers each, of which a size would keep few.
//
// expect: a workspace has more bytes than this target can address
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 4, .context_length = std::size_t{1} << 60}>;

const std::size_t size = sizeof(Layer::Workspace);
