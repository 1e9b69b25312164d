// SPDX-License-Identifier: MIT
//
// Two items attend to three.
//
// expect: query, key and value inputs must have the same batch extents
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, Layer::Workspace& workspace, const Tensor<float, 2, 5, 3>& x, const Tensor<float, 3, 5, 3>& memory) {
  layer(x, memory, memory);
}
