// SPDX-License-Identifier: MIT
//
// Calls of the compiled library.
#include "tinyattn/compiled.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;
using Grouped = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .num_kv_heads = 1}>;

extern const Layer layer;
extern const Grouped grouped;
extern Layer::Workspace workspace;
extern Grouped::Workspace grouped_workspace;
extern const Matrix<float, 6, 3> x;
extern Matrix<float, 6, 4> out;

// expect: workspace is this layer's Workspace
void compiled_without_workspace() { compiled::forward(layer, x, out); }

// expect: a mask of the compiled library has one row
// with fewer tokens than the context length the length of a row of the mask would be ambiguous
Status compiled_count_and_square_mask(const KeepMask<6, 6>& mask) {
  return compiled::forward(layer, x, std::size_t{3}, mask, out, workspace);
}

// expect: the compiled library has no layer with grouped key heads or rotary positions
void compiled_with_grouped_heads() { compiled::forward(grouped, x, out, grouped_workspace); }
