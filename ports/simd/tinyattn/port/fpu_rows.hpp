// SPDX-License-Identifier: MIT
//
// Products and sums of one row for the FPU of Cortex-M: compilers generate no vldm, which loads up
// to sixteen floats at once. Loops are aligned: a Cortex-M4 waits a cycle for a wide instruction in
// two words after a branch.
#pragma once

#include "tinyattn/port/compiler.hpp"
#include "tinyattn/port/fpu_m33.hpp"

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

#if defined(TINYATTN_M33)
struct fpu_rows : fpu_m33 {
#else
struct fpu_rows {
#endif
#if defined(__arm__) && defined(__OPTIMIZE__)
#if !defined(TINYATTN_M33)
  // One row of eight or sixteen sums. Sums are in s0 to s15, the elements of a of one iteration in
  // s16 to s23, eight elements of a row of b in s24 to s31.
  static constexpr std::size_t row_vectors = 16;
  template <std::size_t Vectors>
  requires(Vectors == 8 || Vectors == 16) TINYATTN_ALWAYS_INLINE
      static void row_tile(const float* initial, const float* a, const float* b,
                           std::size_t b_stride, float* out, std::size_t inner) noexcept {
    const std::size_t step = (b_stride - (Vectors - 8)) * sizeof(float);
    // clang-format off
#if defined(__OPTIMIZE_SIZE__)
    std::size_t count = inner / 4, left = inner % 4;
#define TINYATTN_ITERATION(STEP)                                                                  \
  ".p2align 2\n 1: vldm %[a]!, {s16-s19}\n" STEP(16) STEP(17) STEP(18) STEP(19)
#else
    std::size_t count = inner / 8, left = inner % 8;
#define TINYATTN_ITERATION(STEP)                                                                  \
  ".p2align 2\n 1: vldm %[a]!, {s16-s23}\n" STEP(16) STEP(17) STEP(18) STEP(19) STEP(20)          \
  STEP(21) STEP(22) STEP(23)
#endif
#define TINYATTN_ADD(s, b, a) "vfma.f32 s" #s ", s" #a ", s" #b "\n"
#define TINYATTN_ADD_LOW(a)                                                                       \
  TINYATTN_ADD(0, 24, a) TINYATTN_ADD(1, 25, a) TINYATTN_ADD(2, 26, a) TINYATTN_ADD(3, 27, a)     \
  TINYATTN_ADD(4, 28, a) TINYATTN_ADD(5, 29, a) TINYATTN_ADD(6, 30, a) TINYATTN_ADD(7, 31, a)
#define TINYATTN_ADD_HIGH(a)                                                                      \
  TINYATTN_ADD(8, 24, a) TINYATTN_ADD(9, 25, a) TINYATTN_ADD(10, 26, a) TINYATTN_ADD(11, 27, a)   \
  TINYATTN_ADD(12, 28, a) TINYATTN_ADD(13, 29, a) TINYATTN_ADD(14, 30, a) TINYATTN_ADD(15, 31, a)
#define TINYATTN_STEP_8(a) "vldm %[b], {s24-s31}\n add %[b], %[step]\n" TINYATTN_ADD_LOW(a)
#define TINYATTN_STEP_16(a)                                                                       \
  "vldm %[b]!, {s24-s31}\n" TINYATTN_ADD_LOW(a)                                                   \
  "vldm %[b], {s24-s31}\n add %[b], %[step]\n" TINYATTN_ADD_HIGH(a)
#define TINYATTN_ROW(STEP, sums)                                                                  \
  asm volatile("vldm %[initial], {" sums "}\n cmp %[count], #0\n beq 2f\n"                        \
               TINYATTN_ITERATION(STEP) "subs %[count], #1\n bne 1b\n"                            \
               "2: cmp %[left], #0\n beq 4f\n"                                                    \
               "3: vldm %[a]!, {s16}\n" STEP(16) "subs %[left], #1\n bne 3b\n"                    \
               "4: vstm %[out], {" sums "}\n"                                                     \
               : [a] "+&r"(a), [b] "+&r"(b), [count] "+&l"(count), [left] "+&l"(left)             \
               : [initial] "r"(initial), [step] "r"(step), [out] "r"(out)                         \
               : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",      \
                 "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20",     \
                 "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31")
    // clang-format on
    if constexpr (Vectors == 8)
      TINYATTN_ROW(TINYATTN_STEP_8, "s0-s7");
    else
      TINYATTN_ROW(TINYATTN_STEP_16, "s0-s15");
#undef TINYATTN_ROW
#undef TINYATTN_STEP_16
#undef TINYATTN_STEP_8
#undef TINYATTN_ADD_HIGH
#undef TINYATTN_ADD_LOW
#undef TINYATTN_ADD
#undef TINYATTN_ITERATION
  }
#endif

  // Eight columns of a transposed product of one row. Sums are in s0 to s7, eight elements of the
  // row in s8 to s15, eight elements of each of two columns in s16 to s23 and s24 to s31. The
  // constraint h puts four pointers into high registers: GCC 12 would want low ones for all, and
  // there are too few.
  static constexpr std::size_t dot_products = 8;
  TINYATTN_ALWAYS_INLINE static void dots(const float* initial, const float* a, const float* b,
                                          std::size_t b_stride, float* out,
                                          std::size_t inner) noexcept {
    const float *b1 = b + b_stride, *b2 = b1 + b_stride, *b3 = b2 + b_stride, *b4 = b3 + b_stride,
                *b5 = b4 + b_stride, *b6 = b5 + b_stride, *b7 = b6 + b_stride;
    float* const to = out;
    std::size_t count = inner / 8;
    const std::size_t rest = inner % 8;
    // clang-format off
#define TINYATTN_ADD_BOTH(s, t, a, b, c)                                                          \
  "vfma.f32 s" #s ", s" #a ", s" #b "\n vfma.f32 s" #t ", s" #a ", s" #c "\n"
#define TINYATTN_ADD_COLUMNS(s, t, b, c)                                                          \
  "vldm %[" b "]!, {s16-s23}\n vldm %[" c "]!, {s24-s31}\n"                                       \
  TINYATTN_ADD_BOTH(s, t, 8, 16, 24) TINYATTN_ADD_BOTH(s, t, 9, 17, 25)                           \
  TINYATTN_ADD_BOTH(s, t, 10, 18, 26) TINYATTN_ADD_BOTH(s, t, 11, 19, 27)                         \
  TINYATTN_ADD_BOTH(s, t, 12, 20, 28) TINYATTN_ADD_BOTH(s, t, 13, 21, 29)                         \
  TINYATTN_ADD_BOTH(s, t, 14, 22, 30) TINYATTN_ADD_BOTH(s, t, 15, 23, 31)
#define TINYATTN_ADD_TERMS(s, t, b, c)                                                            \
  "vldm %[" b "]!, {s16}\n vldm %[" c "]!, {s24}\n" TINYATTN_ADD_BOTH(s, t, 8, 16, 24)
#define TINYATTN_FOR_8(ADD)                                                                       \
  ADD(0, 1, "b0", "b1") ADD(2, 3, "b2", "b3") ADD(4, 5, "b4", "b5") ADD(6, 7, "b6", "b7")
    asm volatile("vldm %[initial], {s0-s7}\n cmp %[count], #0\n beq 2f\n"
                 ".p2align 2\n 1: vldm %[a]!, {s8-s15}\n" TINYATTN_FOR_8(TINYATTN_ADD_COLUMNS)
                 "subs %[count], #1\n bne 1b\n"
                 "2: ldr %[count], %[rest]\n cmp %[count], #0\n beq 4f\n"
                 "3: vldm %[a]!, {s8}\n" TINYATTN_FOR_8(TINYATTN_ADD_TERMS)
                 "subs %[count], #1\n bne 3b\n"
                 "4: ldr %[count], %[to]\n vstm %[count], {s0-s7}\n"
                 : [a] "+&r"(a), [b0] "+&r"(b), [b1] "+&r"(b1), [b2] "+&r"(b2), [b3] "+&r"(b3),
                   [b4] "+&h"(b4), [b5] "+&h"(b5), [b6] "+&h"(b6), [b7] "+&h"(b7),
                   [count] "+&l"(count)
                 : [initial] "r"(initial), [rest] "m"(rest), [to] "m"(to)
                 : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
                   "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20",
                   "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31");
    // clang-format on
#undef TINYATTN_FOR_8
#undef TINYATTN_ADD_TERMS
#undef TINYATTN_ADD_COLUMNS
#undef TINYATTN_ADD_BOTH
  }

  // The sum of a row, or of its squares. The sixteen lanes are in s0 to s15, sixteen elements in
  // s16 to s31; leftover elements go through s16.
  // clang-format off
#define TINYATTN_FOR_15(DO)                                                                       \
  DO(0, 16) DO(1, 17) DO(2, 18) DO(3, 19) DO(4, 20) DO(5, 21) DO(6, 22) DO(7, 23) DO(8, 24)       \
  DO(9, 25) DO(10, 26) DO(11, 27) DO(12, 28) DO(13, 29) DO(14, 30)
#define TINYATTN_TAKE_NEXT "subs %[left], #1\n bmi 3f\n vldm %[row]!, {s16}\n"
#define TINYATTN_ADD(s, x) "vadd.f32 s" #s ", s" #x "\n"
#define TINYATTN_ADD_NEXT(s, x) TINYATTN_TAKE_NEXT TINYATTN_ADD(s, 16)
#define TINYATTN_ADD_SQUARE(s, x) "vfma.f32 s" #s ", s" #x ", s" #x "\n"
#define TINYATTN_ADD_SQUARE_OF_NEXT(s, x) TINYATTN_TAKE_NEXT TINYATTN_ADD_SQUARE(s, 16)
#define TINYATTN_SUM(ADD, ADD_NEXT)                                                               \
  static constexpr float zeros[16] = {};                                                          \
  std::size_t left = count;                                                                       \
  register float sum asm("s0");                                                                   \
  asm volatile("vldm %[zeros], {s0-s15}\n b 2f\n"                                                 \
               ".p2align 2\n 1: vldm %[row]!, {s16-s31}\n" TINYATTN_FOR_15(ADD) ADD(15, 31)       \
               "2: subs %[left], #16\n bpl 1b\n add %[left], #16\n" TINYATTN_FOR_15(ADD_NEXT)     \
               "3: " TINYATTN_ADD(0, 8) TINYATTN_ADD(1, 9) TINYATTN_ADD(2, 10)                    \
               TINYATTN_ADD(3, 11) TINYATTN_ADD(4, 12) TINYATTN_ADD(5, 13) TINYATTN_ADD(6, 14)    \
               TINYATTN_ADD(7, 15) TINYATTN_ADD(0, 4) TINYATTN_ADD(1, 5) TINYATTN_ADD(2, 6)       \
               TINYATTN_ADD(3, 7) TINYATTN_ADD(0, 2) TINYATTN_ADD(1, 3) TINYATTN_ADD(0, 1)        \
               : [row] "+&r"(row), [left] "+&l"(left), "=t"(sum)                                  \
               : [zeros] "r"(zeros)                                                               \
               : "memory", "cc", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",     \
                 "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21",     \
                 "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31");           \
  return sum
  // clang-format on
  TINYATTN_ALWAYS_INLINE static float sum_of_row(const float* row, std::size_t count) noexcept {
    TINYATTN_SUM(TINYATTN_ADD, TINYATTN_ADD_NEXT);
  }
  TINYATTN_ALWAYS_INLINE static float sum_of_squares(const float* row, std::size_t count) noexcept {
    TINYATTN_SUM(TINYATTN_ADD_SQUARE, TINYATTN_ADD_SQUARE_OF_NEXT);
  }
#undef TINYATTN_SUM
#undef TINYATTN_ADD_SQUARE_OF_NEXT
#undef TINYATTN_ADD_SQUARE
#undef TINYATTN_ADD_NEXT
#undef TINYATTN_ADD
#undef TINYATTN_TAKE_NEXT
#undef TINYATTN_FOR_15
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
