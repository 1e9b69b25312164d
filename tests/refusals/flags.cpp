// SPDX-License-Identifier: MIT
//
// Flags of the compiler. Where a flag or a target shows in a macro, the macro plays it, so that each compiler has it.
#include "tinyattn/tinyattn.hpp"

// --- cpp17: less than C++20
// expect: tinyattn needs C++20
// arguments: -std=c++17

// --- ffast_math: sums in any order, numbers that are never NaN
// expect: ffast-math
// arguments: -ffast-math
// lines: 40

// --- finite_math_only: a part of -ffast-math is enough
// expect: ffinite-math-only
// arguments: -ffinite-math-only
// lines: 40

// --- no_signed_zeros: another part, by GCC's macro for it
// expect: ffast-math
// arguments: -D__NO_SIGNED_ZEROS__

// --- flt_eval_method: a target that computes floats in a wider type, as the x87 does
// expect: FLT_EVAL_METHOD
// arguments: -Wno-builtin-macro-redefined -D__FLT_EVAL_METHOD__=2
// lines: 40

// --- x87_double: an x86 with SSE but without SSE2, such as a Pentium III
// expect: -mfpmath=sse -msse2
// arguments: -D__i386__ -U__SSE2_MATH__

// --- fpack_struct: members without alignment, to which no reference can be bound
// expect: -fpack-struct
// arguments: -fpack-struct

// --- port_that_flags_cannot_build: Helium on a processor without it
// expect: the port `helium` needs Helium with float: compile with -mcpu=cortex-m55 -mfloat-abi=hard
// arguments: -DTINYATTN_PORT=helium
// lines: 120
