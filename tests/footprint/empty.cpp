// SPDX-License-Identifier: MIT
//
// The same firmware without the library.
#include "layers.hpp"

using namespace tinyattn::footprint;

void attend(const Layer&, const Input&, Output&, Layer::Workspace&) noexcept {}
