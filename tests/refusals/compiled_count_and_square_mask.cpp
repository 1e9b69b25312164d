// SPDX-License-Identifier: MIT
//
// How long are the rows of the mask, if there are fewer tokens?
//
// expect: a mask of the compiled library has one row
// lines: 20
#include "tinyattn/compiled.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, const Matrix<float, 6, 3>& x, const KeepMask<6, 6>& mask, Matrix<float, 6, 4>& out,
         Layer::Workspace& workspace) {
  static_cast<void>(compiled::forward(layer, x, std::size_t{3}, mask, out, workspace));
}
