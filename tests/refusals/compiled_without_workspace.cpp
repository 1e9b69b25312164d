// SPDX-License-Identifier: MIT
//
// Where shall the library compute?
//
// expect: workspace is this layer's Workspace
// lines: 20
#include "tinyattn/compiled.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, const Matrix<float, 6, 3>& x, Matrix<float, 6, 4>& out) { compiled::forward(layer, x, out); }
