// SPDX-License-Identifier: MIT
//
// A matrix without columns.
//
// expect: an extent must not be zero
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

Matrix<float, 3, 0> m;
