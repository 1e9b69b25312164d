// SPDX-License-Identifier: MIT
//
// One index for two extents.
//
// expect: a tensor takes one index for each of its extents
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m) { static_cast<void>(m(1)); }
