// SPDX-License-Identifier: MIT
//
// Uses all functions of compiled.hpp, for ports.py, which looks for functions that translation units would share.
#include "tinyattn/compiled.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 6, .d_out = 6, .context_length = 6, .num_heads = 2}>;

void use(const Layer& layer, const Matrix<float, 6, 6>& x, Matrix<float, 6, 6>& out);
void use(const Layer& layer, const Matrix<float, 6, 6>& x, Matrix<float, 6, 6>& out) {
  static Layer::Workspace workspace;
  const BlockMask flags{triu(ones<bool, 6, 6>(), 1)};
  compiled::forward(layer, x, out, workspace);
  compiled::forward(layer, x, flags, out, workspace);
  compiled::forward(layer, x, x, x, out, workspace);
  compiled::forward(layer, x, x, x, Causal{}, out, workspace);
  static_cast<void>(compiled::forward(layer, x, std::size_t{3}, out, workspace));
  static_cast<void>(compiled::forward(layer, x, std::size_t{3}, CausalBottomRight{}, out, workspace));
  static_cast<void>(compiled::forward(layer, x, x, x, 3, 4, out, workspace));
  static_cast<void>(compiled::forward(layer, x, x, x, 3, 4, KeepMask{row(flags.tensor, 2)}, out, workspace));
}
