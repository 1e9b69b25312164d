// SPDX-License-Identifier: MIT
//
// All of the library that the firmware holds.
#include "layers.hpp"

using namespace tinyattn::footprint;

void attend(const Layer& layer, const Input& x, Output& out, Layer::Workspace& workspace) noexcept { layer.forward(x, out, workspace); }
