// SPDX-License-Identifier: MIT
//
// Four features for a layer that takes three.
//
// expect: x must have d_in columns
#include "tinyattn/linear.hpp"

using namespace tinyattn;

void use(const Linear<3, 2>& layer, const Matrix<float, 5, 4>& x) { layer(x); }
