// SPDX-License-Identifier: MIT
//
// An output that nobody would see, in a training pass.
//
// expect: neither const nor a temporary
// lines: 20
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, const Matrix<float, 6, 3>& x, Layer::Workspace& workspace, Mt19937& generator) {
  layer.forward(x, Matrix<float, 6, 4>{}, workspace, generator);
}
