// SPDX-License-Identifier: MIT
//
// An output as wide as the input, for a layer that is wider.
//
// expect: out must have the tokens of x and d_out columns
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 3>& x, Matrix<float, 5, 3>& out) {
  layer.forward(x, out, workspace);
}
