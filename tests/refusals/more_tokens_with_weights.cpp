// SPDX-License-Identifier: MIT
//
// The same with weights.
//
// expect: more tokens than context_length
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 7, 3>& x, Matrix<float, 7, 4>& out,
         Tensor<float, 2, 7, 7>& weights) {
  layer.forward_with_weights(x, out, weights, workspace);
}
