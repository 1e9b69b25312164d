// SPDX-License-Identifier: MIT
//
// All of the library that the firmware holds.
#include "layers.hpp"

using namespace tinyattn::footprint;

void attend(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept { Measured::call(layer, x, out, workspace); }
