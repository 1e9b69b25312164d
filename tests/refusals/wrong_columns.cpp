// SPDX-License-Identifier: MIT
//
// Two features for a layer that takes three.
//
// expect: x must have d_in columns
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 2>& x, Matrix<float, 5, 4>& out) {
  layer.forward(x, out, workspace);
}
