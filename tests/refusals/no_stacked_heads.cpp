// SPDX-License-Identifier: MIT
//
// A stack of no heads.
//
// expect: num_heads must not be zero
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

StackedCausalAttention<3, 2, 6, 0> layer;
