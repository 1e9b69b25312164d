// SPDX-License-Identifier: MIT
//
// A mask on its side.
//
// expect: mask must have the shape of m, or of its last extents
#include "tinyattn/mask.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m, const Matrix<bool, 3, 2>& mask) { masked_fill(m, mask, 0.0f); }
