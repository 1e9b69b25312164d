// SPDX-License-Identifier: MIT
//
// An input of double.
//
// expect: x must hold floats
// lines: 20
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, const Matrix<double, 6, 3>& x, Matrix<float, 6, 4>& out, Layer::Workspace& workspace) {
  layer.forward(x, out, workspace);
}
