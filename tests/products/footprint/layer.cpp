// SPDX-License-Identifier: MIT
//
// The only file of the firmware that contains code of the library.
#include "speed/costs/calls.hpp"

using namespace tinyattn::footprint;

void attend(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept { Measured::call(layer, x, out, workspace); }
