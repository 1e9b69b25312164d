// SPDX-License-Identifier: MIT
//
// Keys of double.
//
// expect: query, key and value must hold floats
// lines: 20
#include "tinyattn/attention.hpp"

using namespace tinyattn;

auto use(const Matrix<float, 2, 3>& m, const Matrix<double, 2, 3>& key) { return scaled_dot_product_attention(m, key, m); }
