// SPDX-License-Identifier: MIT
//
// What the compiler may use in this unit beyond the baseline of x86-64, and so what a processor must have to run it.
#pragma once

namespace tinyattn::compiled {

enum Feature : unsigned {
  sse3 = 1u << 0,
  ssse3 = 1u << 1,
  sse4_1 = 1u << 2,
  sse4_2 = 1u << 3,
  popcnt = 1u << 4,
  avx = 1u << 5,
  avx2 = 1u << 6,
  fma = 1u << 7,
  bmi = 1u << 8,
  bmi2 = 1u << 9,
  avx512f = 1u << 10,
  avx512bw = 1u << 11,
  avx512cd = 1u << 12,
  avx512dq = 1u << 13,
  avx512vl = 1u << 14,
};

static constexpr unsigned features_of_this_unit = 0
#ifdef __SSE3__
                                                  | sse3
#endif
#ifdef __SSSE3__
                                                  | ssse3
#endif
#ifdef __SSE4_1__
                                                  | sse4_1
#endif
#ifdef __SSE4_2__
                                                  | sse4_2
#endif
#ifdef __POPCNT__
                                                  | popcnt
#endif
#ifdef __AVX__
                                                  | avx
#endif
#ifdef __AVX2__
                                                  | avx2
#endif
#ifdef __FMA__
                                                  | fma
#endif
#ifdef __BMI__
                                                  | bmi
#endif
#ifdef __BMI2__
                                                  | bmi2
#endif
#ifdef __AVX512F__
                                                  | avx512f
#endif
#ifdef __AVX512BW__
                                                  | avx512bw
#endif
#ifdef __AVX512CD__
                                                  | avx512cd
#endif
#ifdef __AVX512DQ__
                                                  | avx512dq
#endif
#ifdef __AVX512VL__
                                                  | avx512vl
#endif
    ;

}  // namespace tinyattn::compiled
