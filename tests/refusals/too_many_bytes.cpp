// SPDX-License-Identifier: MIT
//
// 2^64 + 2^33 + 1 elements, of which 64 bits would keep 2^33 + 1.
//
// expect: a tensor has more bytes than this target can address
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

extern Matrix<float, 0x100000001, 0x100000001> m;
const std::size_t size = m.size();
