// SPDX-License-Identifier: MIT
//
// Each key has its value.
//
// expect: key and value inputs must have the same number of tokens
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 3>& x, const Matrix<float, 6, 3>& keys,
         const Matrix<float, 5, 3>& values, Matrix<float, 5, 4>& out) {
  layer.forward(x, keys, values, out, workspace);
}
