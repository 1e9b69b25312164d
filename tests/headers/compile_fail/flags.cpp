// SPDX-License-Identifier: MIT
//
// Flags of the compiler. Where a macro reveals a flag or a target, the program defines that macro, so that it works with every compiler.
#include "tinyattn/tinyattn.hpp"

// expect: tinyattn needs C++20
// arguments: -std=c++17
int cpp17;

// expect: ffast-math
// arguments: -ffast-math
int ffast_math;
// expect: ffast-math
// arguments: -D__NO_SIGNED_ZEROS__
// a part of -ffast-math, for which GCC defines this macro
int no_signed_zeros;

// expect: ffinite-math-only
// arguments: -ffinite-math-only
// another part of -ffast-math
int finite_math_only;

// expect: FLT_EVAL_METHOD
// arguments: -Wno-builtin-macro-redefined -D__FLT_EVAL_METHOD__=2
// a target that computes floats in a wider type, as the x87 does
int flt_eval_method;

// expect: -mfpmath=sse -msse2
// arguments: -D__i386__ -U__SSE2_MATH__
// an x86 with SSE but without SSE2, such as a Pentium III
int x87_double;

// expect: -fpack-struct
// arguments: -fpack-struct
// without alignment no reference can bind to a member
int fpack_struct;

// expect in 25 lines: the port `helium` needs Helium with float: compile with -mcpu=cortex-m55 -mfloat-abi=hard
// arguments: -DTINYATTN_PORT=helium
int port_that_flags_cannot_build;
