// SPDX-License-Identifier: MIT
//
// 2^64 + 2^33 + 1 elements, of which 64 bits would keep 2^33 + 1.
//
// expect: a view has more bytes than this target can address
// lines: 20
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

extern const MatrixView<float, 0x100000001, 0x100000001, 0x100000001> view;
const std::size_t size = view.size();
