// SPDX-License-Identifier: MIT
//
// With a token count, too, the output has the rows of the input.
//
// expect: out must have the tokens of x and d_out columns
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 3>& x, Matrix<float, 3, 4>& out) {
  static_cast<void>(layer.forward(x, 3, out, workspace));
}
