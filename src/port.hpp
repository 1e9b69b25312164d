// SPDX-License-Identifier: MIT
//
// All operations on the port of this translation unit.
#pragma once

#include "features.hpp"
#include "layer_operations.hpp"
#include "model_operations.hpp"
#include "operations.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

#define TINYATTN_NAME_OF(port) TINYATTN_TEXT(port)
static constexpr Operations native_operations = {
    .port = TINYATTN_NAME_OF(TINYATTN_PORT),
    .needs = features_of_this_unit,
    .matmul = matmul,
    .matmul_transposed = matmul_transposed,
    .softmax = softmax,
    .attention = attention,
    .forward = plain_forward,
    .masked_forward = masked_forward,
    .mean = mean,
    .largest = largest,
    .standardize = standardize,
    .activate = activate,
    .normalize = normalize,
    .sample = sample,
    .project_floats = project<Floats>,
    .project_int8 = project<Int8>,
    .convolve_floats = convolve<Floats>,
    .convolve_int8 = convolve<Int8>,
    .encode_floats = encode<Floats>,
    .encode_int8 = encode<Int8>,
    .decode_floats = decode<Floats, FloatCache>,
    .decode_int8 = decode<Int8, FloatCache>,
    .decode_int8_cache = decode<Int8, Int8Cache>,
};
#undef TINYATTN_NAME_OF

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
