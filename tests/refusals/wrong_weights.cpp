// SPDX-License-Identifier: MIT
//
// One matrix of weights for two heads.
//
// expect: weights must be [..., num_heads, tokens, source tokens]
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 3>& x, Matrix<float, 5, 4>& out,
         Matrix<float, 5, 5>& weights) {
  layer.forward_with_weights(x, out, weights, workspace);
}
