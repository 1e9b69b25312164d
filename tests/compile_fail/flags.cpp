// SPDX-License-Identifier: MIT
//
// Flags of the compiler. Where a flag or a target shows in a macro, the macro plays it, so that each compiler has it.
#include "tinyattn/tinyattn.hpp"

// expect: tinyattn needs C++20
// arguments: -std=c++17
int cpp17;

// expect: ffast-math
// arguments: -ffast-math
// lines: 40
int ffast_math;
// arguments: -D__NO_SIGNED_ZEROS__
// a part of -ffast-math, by GCC's macro for it
int no_signed_zeros;

// expect: ffinite-math-only
// arguments: -ffinite-math-only
// lines: 40
// another part
int finite_math_only;

// expect: FLT_EVAL_METHOD
// arguments: -Wno-builtin-macro-redefined -D__FLT_EVAL_METHOD__=2
// lines: 40
// a target that computes floats in a wider type, as the x87 does
int flt_eval_method;

// expect: -mfpmath=sse -msse2
// arguments: -D__i386__ -U__SSE2_MATH__
// an x86 with SSE but without SSE2, such as a Pentium III
int x87_double;

// expect: -fpack-struct
// arguments: -fpack-struct
// members without alignment, to which no reference can be bound
int fpack_struct;

// expect: the port `helium` needs Helium with float: compile with -mcpu=cortex-m55 -mfloat-abi=hard
// arguments: -DTINYATTN_PORT=helium
// lines: 120
int port_that_flags_cannot_build;
