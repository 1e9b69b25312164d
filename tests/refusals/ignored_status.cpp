// SPDX-License-Identifier: MIT
//
// Whoever gives a token count looks at what comes back.
//
// expect: nodiscard
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 3>& x, std::size_t tokens, Matrix<float, 5, 4>& out) {
  layer.forward(x, tokens, out, workspace);
}
