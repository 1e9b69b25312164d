// SPDX-License-Identifier: MIT
//
// The same for stacked heads.
//
// expect: x must have d_in columns
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

using Layer = StackedCausalAttention<3, 2, 6, 2>;

void use(const Layer& layer, Layer::Workspace& workspace, const Matrix<float, 5, 2>& x) { layer(x); }
