// SPDX-License-Identifier: MIT
//
// Four columns of three.
//
// expect: a view has no more columns than its matrix
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

void use(const Matrix<float, 2, 3>& m) { static_cast<void>(columns<4>(m, 0)); }
