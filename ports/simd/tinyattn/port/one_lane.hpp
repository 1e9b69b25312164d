// SPDX-License-Identifier: MIT
//
// TINYATTN_ONE_LANE: the port for single floats on this machine, by the compiler's macros. A list
// like native.hpp's: builds and tests read in each entry's comment on which architectures its port
// is built, and with which flags (ports/simd/priorities.py).
#pragma once

#if defined(__ARM_FEATURE_FMA) || defined(__FMA__) || defined(__FP_FAST_FMAF) || \
    defined(__riscv_flen)
// on x86_64 with -mfma, anywhere else
#define TINYATTN_ONE_LANE fpu
#include "tinyattn/port/fpu.hpp"
#elif defined(__riscv) || (defined(__arm__) && (!defined(__ARM_FP) || !(__ARM_FP & 8)))
// anywhere
#define TINYATTN_ONE_LANE soft
#include "tinyattn/port/soft.hpp"
#else
// anywhere
#define TINYATTN_ONE_LANE scalar
#include "tinyattn/port/scalar.hpp"
#endif
