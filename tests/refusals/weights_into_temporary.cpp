// SPDX-License-Identifier: MIT
//
// Whoever wants the weights must keep them.
//
// expect: out and weights are neither const nor temporaries
// lines: 20
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, const Matrix<float, 6, 3>& x, Matrix<float, 6, 4>& out, Layer::Workspace& workspace) {
  layer.forward_with_weights(x, out, Tensor<float, 2, 6, 6>{}, workspace);
}
