// SPDX-License-Identifier: MIT
//
// Softmax of a row for the FPU of Cortex-M, for multiples of four elements: compilers generate no
// vldm, and do not interleave two exponentials.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct fpu_softmax {
#if defined(__arm__) && defined(__OPTIMIZE__)
  // clang-format off
  // The exponent x is in s24, the polynomial's coefficients in s8 to s13, where each step
  // overwrites the next one with its sum. s14 holds 1.5 * 2^23, then with n in its low bits, which
  // are added to the result's exponent; s15 holds n. A NaN stays one, and an x below the bound
  // gives 0.
#define TINYATTN_ONE_EXPONENTIAL                                                                  \
  "vldm %[from]!, {s24}\n vldm %[numbers], {s8-s14}\n vsub.f32 s24, s1\n vmul.f32 s24, s0\n"      \
  "vcmp.f32 s24, s2\n vmrs APSR_nzcv, fpscr\n vfma.f32 s14, s24, s3\n vadd.f32 s15, s14, s4\n"    \
  "vfma.f32 s24, s15, s5\n vfma.f32 s24, s15, s6\n vfma.f32 s8, s24, s7\n vfma.f32 s9, s24, s8\n" \
  "vfma.f32 s10, s24, s9\n vfma.f32 s11, s24, s10\n vfma.f32 s12, s24, s11\n"                     \
  "vfma.f32 s13, s24, s12\n vmov r4, r5, s13, s14\n"                                              \
  "it ge\n addge r4, r4, r5, lsl #23\n it mi\n movmi r4, #0\n"                                    \
  "str r4, [%[row]], #4\n subs %[left], #1\n bne 1b\n"

  // Two exponentials side by side, the second in s25 and s16 to s23. The sum of both exponents is
  // compared first: if it is a number and not below the bound, neither exponent is below it, since
  // none is above 0. Else both exponents are computed again, and each is compared. In a row with a
  // NaN the result does not matter: all of it becomes NaN.
#define TINYATTN_BOTH(operation, s, a, b, t, c, d)                                                \
  operation ".f32 s" #s ", s" #a ", s" #b "\n " operation ".f32 s" #t ", s" #c ", s" #d "\n"
#define TINYATTN_EXPONENTS                                                                        \
  "vldm %[from]!, {s24-s25}\n" TINYATTN_BOTH("vsub", 24, 24, 1, 25, 25, 1)                        \
  TINYATTN_BOTH("vmul", 24, 24, 0, 25, 25, 0)
#define TINYATTN_LOOK_AT(x, bits)                                                                 \
  "vcmp.f32 " x ", s2\n vmrs APSR_nzcv, fpscr\n it mi\n movmi " bits ", #0\n"                     \
  "it vs\n vmovvs " bits ", " x "\n"
#define TINYATTN_TWO_EXPONENTIALS                                                                 \
  "vldm %[numbers], {s8-s14}\n vldm %[numbers], {s16-s22}\n" TINYATTN_EXPONENTS                   \
  TINYATTN_BOTH("vfma", 14, 24, 3, 22, 25, 3) "vadd.f32 s26, s24, s25\n"                          \
  TINYATTN_BOTH("vadd", 15, 14, 4, 23, 22, 4)                                                     \
  TINYATTN_BOTH("vfma", 24, 15, 5, 25, 23, 5) TINYATTN_BOTH("vfma", 24, 15, 6, 25, 23, 6)         \
  TINYATTN_BOTH("vfma", 8, 24, 7, 16, 25, 7) TINYATTN_BOTH("vfma", 9, 24, 8, 17, 25, 16)          \
  TINYATTN_BOTH("vfma", 10, 24, 9, 18, 25, 17) TINYATTN_BOTH("vfma", 11, 24, 10, 19, 25, 18)      \
  TINYATTN_BOTH("vfma", 12, 24, 11, 20, 25, 19) TINYATTN_BOTH("vfma", 13, 24, 12, 21, 25, 20)     \
  "vmov r4, r5, s13, s14\n add r4, r4, r5, lsl #23\n"                                             \
  "vmov r5, r6, s21, s22\n add r5, r5, r6, lsl #23\n"                                             \
  "vcmp.f32 s26, s2\n vmrs APSR_nzcv, fpscr\n blt 3f\n"                                           \
  "2: str r5, [%[row], #4]\n str r4, [%[row]], #8\n subs %[left], #2\n bne 1b\n b 4f\n"           \
  "3: sub %[from], #8\n" TINYATTN_EXPONENTS TINYATTN_LOOK_AT("s24", "r4")                         \
  TINYATTN_LOOK_AT("s25", "r5") "b 2b\n 4:\n"
  // clang-format on

#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_EXPONENTIALS TINYATTN_ONE_EXPONENTIAL
#else
#define TINYATTN_EXPONENTIALS TINYATTN_TWO_EXPONENTIALS
#endif
  TINYATTN_ALWAYS_INLINE static void exponentials(const float* from, float* row, std::size_t count,
                                                  float largest, float scale,
                                                  const float* numbers) noexcept {
    register float times asm("s0") = scale;
    register float less asm("s1") = largest;
    asm volatile(
        "vldm %[numbers]!, {s2-s7}\n .p2align 2\n 1: " TINYATTN_EXPONENTIALS
        : [from] "+&r"(from), [row] "+&r"(row), [numbers] "+&r"(numbers), [left] "+&l"(count)
        : "t"(times), "t"(less)
        : "memory", "cc", "r4", "r5", "r6", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
          "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23",
          "s24", "s25", "s26");
  }
#undef TINYATTN_EXPONENTIALS
#undef TINYATTN_TWO_EXPONENTIALS
#undef TINYATTN_LOOK_AT
#undef TINYATTN_EXPONENTS
#undef TINYATTN_BOTH
#undef TINYATTN_ONE_EXPONENTIAL

  // The sixteen lanes are in s0 to s15.
  TINYATTN_ALWAYS_INLINE static float sum_of_fours(const float* row, std::size_t count,
                                                   const float* eight_zeros) noexcept {
    register float sum asm("s0");
    // clang-format off
#define TINYATTN_ADD(s, x) "vadd.f32 s" #s ", s" #x "\n"
#define TINYATTN_ADD_FOUR(s, t, u, v)                                                             \
  "vldm %[row]!, {s16-s19}\n" TINYATTN_ADD(s, 16) TINYATTN_ADD(t, 17) TINYATTN_ADD(u, 18)         \
  TINYATTN_ADD(v, 19) "subs %[left], #4\n"
    asm volatile("vldm %[zeros], {s0-s7}\n vldm %[zeros], {s8-s15}\n"
                 "1: " TINYATTN_ADD_FOUR(0, 1, 2, 3) "beq 2f\n"
                 TINYATTN_ADD_FOUR(4, 5, 6, 7) "beq 2f\n"
                 TINYATTN_ADD_FOUR(8, 9, 10, 11) "beq 2f\n"
                 TINYATTN_ADD_FOUR(12, 13, 14, 15) "bne 1b\n"
                 "2: " TINYATTN_ADD(0, 8) TINYATTN_ADD(1, 9) TINYATTN_ADD(2, 10)
                 TINYATTN_ADD(3, 11) TINYATTN_ADD(4, 12) TINYATTN_ADD(5, 13) TINYATTN_ADD(6, 14)
                 TINYATTN_ADD(7, 15) TINYATTN_ADD(0, 4) TINYATTN_ADD(1, 5) TINYATTN_ADD(2, 6)
                 TINYATTN_ADD(3, 7) TINYATTN_ADD(0, 2) TINYATTN_ADD(1, 3) TINYATTN_ADD(0, 1)
                 : [row] "+&r"(row), [left] "+&l"(count), "=t"(sum)
                 : [zeros] "r"(eight_zeros)
                 : "memory", "cc", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
                   "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19");
    // clang-format on
#undef TINYATTN_ADD_FOUR
#undef TINYATTN_ADD
    return sum;
  }

  TINYATTN_ALWAYS_INLINE static void multiply_fours(float* row, std::size_t count,
                                                    float factor) noexcept {
    asm volatile(
        "1: vldm %[row], {s16-s19}\n vmul.f32 s16, %[factor]\n vmul.f32 s17, %[factor]\n"
        "vmul.f32 s18, %[factor]\n vmul.f32 s19, %[factor]\n vstm %[row]!, {s16-s19}\n"
        "subs %[left], #4\n bne 1b\n"
        : [row] "+&r"(row), [left] "+&l"(count)
        : [factor] "t"(factor)
        : "memory", "cc", "s16", "s17", "s18", "s19");
  }
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
