// SPDX-License-Identifier: MIT
//
// A mask of six tokens for five.
//
// expect: mask must be [tokens, source tokens] or [source tokens]
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 3>& x, const Matrix<bool, 6, 6>& mask,
         Matrix<float, 5, 4>& out) {
  layer.forward(x, KeepMask{mask}, out, workspace);
}
