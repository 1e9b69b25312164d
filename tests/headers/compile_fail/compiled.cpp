// SPDX-License-Identifier: MIT
//
// Calls of the compiled library.
#include "given.hpp"

using Windowed = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .window = 2}>;

// expect: workspace is this layer's Workspace
void compiled_without_workspace() { compiled::forward(layer, x, out); }
// expect: a mask of the compiled library has one row
// with fewer tokens than the context length it would be ambiguous how long a row of the mask is
Status compiled_count_and_square_mask() { return compiled::forward(layer, x, std::size_t{3}, KeepMask{bools}, out, workspace); }
// expect: the compiled library has no layer with a window
void compiled_with_window(const Windowed& windowed, Windowed::Workspace& room) { compiled::forward(windowed, x, out, room); }
// expect: the compiled library has no groups and no dilation
void compiled_in_groups(const Conv1d<Conv1dConfig{.in = 4, .out = 4, .kernel = 1, .groups = 4}>& its) { compiled::forward(its, x, out); }
