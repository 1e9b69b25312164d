// SPDX-License-Identifier: MIT
//
// Functions of vectors that kernels use.
#pragma once

#include "tinyattn/port/elementwise.hpp"
#include "tinyattn/port/native.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

using namespace port::elementwise;

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
