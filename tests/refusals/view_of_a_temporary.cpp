// SPDX-License-Identifier: MIT
//
// The matrix would be gone when the view is read.
//
// expect: deleted
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

void use() { static_cast<void>(columns<2>(zeros<float, 2, 3>(), 0)); }
