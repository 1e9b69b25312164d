// SPDX-License-Identifier: MIT
//
// The table of operations of the compiled library. Each has a CRC-32 of all its outputs, the same on every target, and one of small shapes
// that fit into the smallest board.
#pragma once

#include "models.hpp"
#include "operation.hpp"
#include "operations.hpp"
#include "strided.hpp"

namespace tinyattn::test {

inline constexpr Operation operations[] = {
    {"matmul, matmul_transposed", multiply, 0xbb1f4843, 0xd9284795},
    {"softmax", softmax, 0x62950a5d, 0x5f380996},
    {"attention", attention, 0x4290e790, 0x18c78cf4},
    {"forward, cross_forward", layer<Kind::f32>, 0x55b24540, 0x50522af0},
    {"forward, cross_forward: int8", layer<Kind::int8>, 0x6d461f55, 0xa85f23a7},
    {"linear_forward: int8", linear_int8, 0xf68e7e7c, 0x8633c5a0},
    {"conv1d", convolution<Kind::f32>, 0xc1229f3f, 0x135ef8a7},
    {"conv1d: int8", convolution<Kind::int8>, 0x6422d2fa, 0xb7e6cb4b},
    {"mean, largest, standardize, normalize, activate", rows, 0xe9f67495, 0x14bd904f},
    {"encoder_forward", encoder<Kind::f32>, 0xb467f260, 0xb51fab35},
    {"encoder_forward: int8", encoder<Kind::int8>, 0xfdcfeecc, 0xd6b8c3cb},
    {"decoder_forward", decoder<Kind::f32>, 0x7afbc053, 0x830e320f},
    {"decoder_forward: int8", decoder<Kind::int8>, 0x7565c945, 0xe4764ce6},
    {"decoder_forward: int8 cache", decoder<Kind::int8_cache>, 0xc1c61198, 0xaf3f3245},
    {"argmax, sample", sampling, 0x25d01f82, 0x028c98d4},
    {"generate", generation<Kind::f32>, 0xb5b3c3bf, 0x04339dd0},
    {"generate: int8", generation<Kind::int8>, 0x752d2f6b, 0x131ea9b0},
    {"generate: int8 cache", generation<Kind::int8_cache>, 0x233a1f55, 0x4b404c26},
    {"elementwise, copy", elementwise, 0x5e74b67e, 0xebc432bc},
    {"reduce, reduce_to_index", reduce, 0x8b8ba1e9, 0xd2dff91c},
};

}  // namespace tinyattn::test
