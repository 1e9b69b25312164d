// SPDX-License-Identifier: MIT
//
// Scratch of a layer of another shape.
//
// expect: workspace is this layer's Workspace
// lines: 20
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;
using Other = CausalAttention<3, 4, 6>;

void use(const Layer& layer, const Matrix<float, 6, 3>& x, Matrix<float, 6, 4>& out, Other::Workspace& workspace) {
  layer.forward(x, out, workspace);
}
