// SPDX-License-Identifier: MIT
//
// A target that computes floats in a wider type, as the x87 does. The compiler's own macro is overwritten, so that any target can play it.
//
// expect: FLT_EVAL_METHOD
// arguments: -Wno-builtin-macro-redefined -D__FLT_EVAL_METHOD__=2
#include "tinyattn/tinyattn.hpp"
