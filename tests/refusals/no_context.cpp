// SPDX-License-Identifier: MIT
//
// A layer for no tokens at all.
//
// expect: context_length must not be zero
#include "tinyattn/multi_head_attention.hpp"

using namespace tinyattn;

CausalAttention<3, 2, 0> layer;
