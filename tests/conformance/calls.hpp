// SPDX-License-Identifier: MIT
//
// Included before all else, it leaves the compiler the choice of what to inline: where nothing is said of an optimizer or of a machine,
// kernels as calls compile in half the time.
#pragma once

#include "tinyattn/port/compiler.hpp"

#undef TINYATTN_ALWAYS_INLINE
#undef TINYATTN_INLINE_LAMBDA
#define TINYATTN_ALWAYS_INLINE inline
#define TINYATTN_INLINE_LAMBDA
