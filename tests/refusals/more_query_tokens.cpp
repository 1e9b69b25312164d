// SPDX-License-Identifier: MIT
//
// Cross-attention from seven queries, in a layer of six tokens, to four keys.
//
// expect: more tokens than context_length
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 7, 3>& x, const Matrix<float, 4, 3>& memory,
         Matrix<float, 7, 4>& out) {
  layer.forward(x, memory, memory, out, workspace);
}
