// SPDX-License-Identifier: MIT
//
// True hides in one interface of PyTorch and keeps in another.
//
// expect: a Tensor<bool> alone does not say whether true hides or keeps
// lines: 20
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 3>& x, const Matrix<bool, 5, 5>& mask,
         Matrix<float, 5, 4>& out) {
  layer.forward(x, mask, out, workspace);
}
