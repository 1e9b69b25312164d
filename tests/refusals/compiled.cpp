// SPDX-License-Identifier: MIT
//
// Calls of the compiled library.
#include "tinyattn/compiled.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

// --- compiled_without_workspace: where shall the library compute?
// expect: workspace is this layer's Workspace
void use(const Layer& layer, const Matrix<float, 6, 3>& x, Matrix<float, 6, 4>& out) { compiled::forward(layer, x, out); }

// --- compiled_count_and_square_mask: how long are the rows of the mask, if there are fewer tokens?
// expect: a mask of the compiled library has one row
Status use(const Layer& layer, const Matrix<float, 6, 3>& x, const KeepMask<6, 6>& mask, Matrix<float, 6, 4>& out, Layer::Workspace& room) {
  return compiled::forward(layer, x, std::size_t{3}, mask, out, room);
}

// --- compiled_with_grouped_heads: heads that share keys
// expect: the compiled library has no layer with grouped key heads or rotary positions
using Grouped = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .num_kv_heads = 1}>;
void use(const Grouped& layer, const Matrix<float, 6, 3>& x, Matrix<float, 6, 4>& out, Grouped::Workspace& room) {
  compiled::forward(layer, x, out, room);
}
