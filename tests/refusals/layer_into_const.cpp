// SPDX-License-Identifier: MIT
//
// An output that cannot be written.
//
// expect: out must hold floats, and not be const
// lines: 20
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, const Matrix<float, 6, 3>& x, const Matrix<float, 6, 4>& out, Layer::Workspace& workspace) {
  layer.forward(x, out, workspace);
}
