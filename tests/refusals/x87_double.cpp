// SPDX-License-Identifier: MIT
//
// An x86 with SSE but without SSE2, such as a Pentium III, played by any other.
//
// expect: -mfpmath=sse -msse2
// arguments: -D__i386__ -U__SSE2_MATH__
#include "tinyattn/tinyattn.hpp"
