// SPDX-License-Identifier: MIT
//
// The operations on the port of this unit.
#pragma once

#include "features.hpp"
#include "layer.hpp"
#include "operations.hpp"
#include "single_calls.hpp"

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library {

#define TINYATTN_NAME_OF(port) TINYATTN_TEXT(port)
static constexpr compiled::Operations native_operations{
    TINYATTN_NAME_OF(TINYATTN_PORT),
    compiled::features_of_this_unit,
    matmul,
    matmul_transposed,
    softmax,
    attention,
    forward,
    masked_forward,
};

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library
