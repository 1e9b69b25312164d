// SPDX-License-Identifier: MIT
//
// Rows of a backward pass for the FPU of Cortex-M: compilers generate no vldm, which loads up to
// sixteen floats at once.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct fpu_backward {
#if defined(__arm__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
  // A row of results, eight at a time, then one at a time: computed in s0 to s7 from operands in s0
  // to s7, s8 to s15 and s16 to s23.
  // clang-format off
#define TINYATTN_ROW(load, step)                                                                  \
  "subs %[count], #8\n bcc 2f\n"                                                                  \
  "1: " load("-s7", "-s15", "-s23") step(0, 8, 16) step(1, 9, 17) step(2, 10, 18)                 \
  step(3, 11, 19) step(4, 12, 20) step(5, 13, 21) step(6, 14, 22) step(7, 15, 23)                 \
  "vstm %[to]!, {s0-s7}\n subs %[count], #8\n bcs 1b\n"                                           \
  "2: adds %[count], #8\n beq 4f\n"                                                               \
  "3: " load("", "", "") step(0, 8, 16) "vstm %[to]!, {s0}\n subs %[count], #1\n bne 3b\n 4:"
#define TINYATTN_CLOBBERS                                                                         \
  "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",       \
  "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23"
#define TINYATTN_LOAD_1(l0, l1, l2) "vldm %[a]!, {s0" l0 "}\n"
#define TINYATTN_LOAD_2(l0, l1, l2) TINYATTN_LOAD_1(l0, l1, l2) "vldm %[b]!, {s8" l1 "}\n"
#define TINYATTN_LOAD_TO_1(l0, l1, l2) "vldm %[to], {s0" l0 "}\n vldm %[a]!, {s8" l1 "}\n"
#define TINYATTN_LOAD_TO_2(l0, l1, l2) TINYATTN_LOAD_TO_1(l0, l1, l2) "vldm %[b]!, {s16" l2 "}\n"

  TINYATTN_ALWAYS_INLINE static void add_row(const float* a, float* to,
                                             std::size_t count) noexcept {
#define TINYATTN_STEP(x, y, z) "vadd.f32 s" #x ", s" #y "\n"
    asm volatile(TINYATTN_ROW(TINYATTN_LOAD_TO_1, TINYATTN_STEP)
                 : [a] "+&r"(a), [to] "+&r"(to), [count] "+&l"(count) : : TINYATTN_CLOBBERS);
#undef TINYATTN_STEP
  }
  TINYATTN_ALWAYS_INLINE static void add_products(const float* a, const float* b, float* to,
                                                  std::size_t count) noexcept {
#define TINYATTN_STEP(x, y, z) "vfma.f32 s" #x ", s" #y ", s" #z "\n"
    asm volatile(TINYATTN_ROW(TINYATTN_LOAD_TO_2, TINYATTN_STEP)
                 : [a] "+&r"(a), [b] "+&r"(b), [to] "+&r"(to), [count] "+&l"(count)
                 : : TINYATTN_CLOBBERS);
#undef TINYATTN_STEP
  }
  TINYATTN_ALWAYS_INLINE static void multiply_elements(const float* a, const float* b, float* to,
                                                   std::size_t count) noexcept {
#define TINYATTN_STEP(x, y, z) "vmul.f32 s" #x ", s" #y "\n"
    asm volatile(TINYATTN_ROW(TINYATTN_LOAD_2, TINYATTN_STEP)
                 : [a] "+&r"(a), [b] "+&r"(b), [to] "+&r"(to), [count] "+&l"(count)
                 : : TINYATTN_CLOBBERS);
#undef TINYATTN_STEP
  }
  TINYATTN_ALWAYS_INLINE static void scale_row(const float* a, float factor, float* to,
                                               std::size_t count) noexcept {
#define TINYATTN_STEP(x, y, z) "vmul.f32 s" #x ", %[factor]\n"
    asm volatile(TINYATTN_ROW(TINYATTN_LOAD_1, TINYATTN_STEP)
                 : [a] "+&r"(a), [to] "+&r"(to), [count] "+&l"(count)
                 : [factor] "t"(factor) : TINYATTN_CLOBBERS);
#undef TINYATTN_STEP
  }
  // to[j] = (to[j] + mean + product * a[j]) * scale.
  TINYATTN_ALWAYS_INLINE static void center_and_scale(const float* a, float* to, std::size_t count,
                                                      float product, float mean,
                                                      float scale) noexcept {
#define TINYATTN_STEP(x, y, z)                                                                    \
  "vadd.f32 s" #x ", %[mean]\n vfma.f32 s" #x ", s" #y ", %[product]\n"                           \
  "vmul.f32 s" #x ", %[scale]\n"
    asm volatile(TINYATTN_ROW(TINYATTN_LOAD_TO_1, TINYATTN_STEP)
                 : [a] "+&r"(a), [to] "+&r"(to), [count] "+&l"(count)
                 : [product] "t"(product), [mean] "t"(mean), [scale] "t"(scale)
                 : TINYATTN_CLOBBERS);
#undef TINYATTN_STEP
  }
  // to[j] = a[j] * (b[j] + mean) * scale.
  TINYATTN_ALWAYS_INLINE static void softmax_backward(const float* a, const float* b, float* to,
                                                      std::size_t count, float mean,
                                                      float scale) noexcept {
#define TINYATTN_STEP(x, y, z)                                                                    \
  "vadd.f32 s" #y ", %[mean]\n vmul.f32 s" #x ", s" #y "\n vmul.f32 s" #x ", %[scale]\n"
    asm volatile(TINYATTN_ROW(TINYATTN_LOAD_2, TINYATTN_STEP)
                 : [a] "+&r"(a), [b] "+&r"(b), [to] "+&r"(to), [count] "+&l"(count)
                 : [mean] "t"(mean), [scale] "t"(scale) : TINYATTN_CLOBBERS);
#undef TINYATTN_STEP
  }
#undef TINYATTN_LOAD_TO_2
#undef TINYATTN_LOAD_TO_1
#undef TINYATTN_LOAD_2
#undef TINYATTN_LOAD_1
#undef TINYATTN_CLOBBERS
#undef TINYATTN_ROW

  // The sum of products of two rows. The sixteen lanes are in s0 to s15, eight elements of each row
  // in s16 to s23 and s24 to s31; leftover elements go through s16 and s24.
  TINYATTN_ALWAYS_INLINE static float sum_of_products(const float* a, const float* b,
                                                      std::size_t count) noexcept {
    static constexpr float zeros[16] = {};
    register float sum asm("s0");
#define TINYATTN_LOAD "vldm %[a]!, {s16-s23}\n vldm %[b]!, {s24-s31}\n"
#define TINYATTN_MULTIPLY(s, x, y) "vfma.f32 s" #s ", s" #x ", s" #y "\n"
#define TINYATTN_NEXT(s)                                                                          \
  "subs %[left], #1\n bmi 3f\n vldm %[a]!, {s16}\n vldm %[b]!, {s24}\n" TINYATTN_MULTIPLY(s, 16, 24)
#define TINYATTN_ADD(s, x) "vadd.f32 s" #s ", s" #x "\n"
    asm volatile("vldm %[zeros], {s0-s15}\n b 2f\n"
                 "1: " TINYATTN_LOAD TINYATTN_MULTIPLY(0, 16, 24) TINYATTN_MULTIPLY(1, 17, 25)
                 TINYATTN_MULTIPLY(2, 18, 26) TINYATTN_MULTIPLY(3, 19, 27)
                 TINYATTN_MULTIPLY(4, 20, 28) TINYATTN_MULTIPLY(5, 21, 29)
                 TINYATTN_MULTIPLY(6, 22, 30) TINYATTN_MULTIPLY(7, 23, 31)
                 TINYATTN_LOAD TINYATTN_MULTIPLY(8, 16, 24) TINYATTN_MULTIPLY(9, 17, 25)
                 TINYATTN_MULTIPLY(10, 18, 26) TINYATTN_MULTIPLY(11, 19, 27)
                 TINYATTN_MULTIPLY(12, 20, 28) TINYATTN_MULTIPLY(13, 21, 29)
                 TINYATTN_MULTIPLY(14, 22, 30) TINYATTN_MULTIPLY(15, 23, 31)
                 "2: subs %[left], #16\n bpl 1b\n add %[left], #16\n"
                 TINYATTN_NEXT(0) TINYATTN_NEXT(1) TINYATTN_NEXT(2) TINYATTN_NEXT(3)
                 TINYATTN_NEXT(4) TINYATTN_NEXT(5) TINYATTN_NEXT(6) TINYATTN_NEXT(7)
                 TINYATTN_NEXT(8) TINYATTN_NEXT(9) TINYATTN_NEXT(10) TINYATTN_NEXT(11)
                 TINYATTN_NEXT(12) TINYATTN_NEXT(13) TINYATTN_NEXT(14)
                 "3: " TINYATTN_ADD(0, 8) TINYATTN_ADD(1, 9) TINYATTN_ADD(2, 10)
                 TINYATTN_ADD(3, 11) TINYATTN_ADD(4, 12) TINYATTN_ADD(5, 13) TINYATTN_ADD(6, 14)
                 TINYATTN_ADD(7, 15) TINYATTN_ADD(0, 4) TINYATTN_ADD(1, 5) TINYATTN_ADD(2, 6)
                 TINYATTN_ADD(3, 7) TINYATTN_ADD(0, 2) TINYATTN_ADD(1, 3) TINYATTN_ADD(0, 1)
                 : [a] "+&r"(a), [b] "+&r"(b), [left] "+&l"(count), "=t"(sum)
                 : [zeros] "r"(zeros)
                 : "memory", "cc", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
                   "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21",
                   "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31");
#undef TINYATTN_ADD
#undef TINYATTN_NEXT
#undef TINYATTN_MULTIPLY
#undef TINYATTN_LOAD
    return sum;
  }

  // Eight columns of a transposed product, for all rows. Sums are in s0 to s7, eight elements of a
  // row of a in s8 to s15, eight elements of each of two columns in s16 to s23 and s24 to s31. At
  // the end of a row the pointers to the columns move back. The constraint h puts four of them into
  // high registers: GCC 12 would want low ones for all, and there are too few. Not inlined, since
  // Clang would then find no register for all.
  [[gnu::noinline]] static void dot_columns(std::size_t rows, std::size_t inner, const float* a,
                                            std::size_t a_stride, const float* b,
                                            std::size_t b_stride, const float* initial,
                                            std::size_t initial_stride, float* out,
                                            std::size_t out_stride) noexcept {
    const float *b1 = b + b_stride, *b2 = b1 + b_stride, *b3 = b2 + b_stride, *b4 = b3 + b_stride,
                *b5 = b4 + b_stride, *b6 = b5 + b_stride, *b7 = b6 + b_stride;
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
#define TINYATTN_MOVE_BACK(s, t, b, c)                                                            \
  "sub %[" b "], %[" b "], %[number], lsl #2\n sub %[" c "], %[" c "], %[number], lsl #2\n"
#define TINYATTN_FOR_8(DO)                                                                        \
  DO(0, 1, "b0", "b1") DO(2, 3, "b2", "b3") DO(4, 5, "b4", "b5") DO(6, 7, "b6", "b7")
    for (; rows != 0; --rows, a += a_stride, initial += initial_stride, out += out_stride) {
      const float* from = a;
      float* const to = out;
      std::size_t number;
      asm volatile("vldm %[initial], {s0-s7}\n ldr %[number], %[inner]\n"
                   "lsrs %[number], #3\n beq 2f\n"
                   "1: vldm %[from]!, {s8-s15}\n" TINYATTN_FOR_8(TINYATTN_ADD_COLUMNS)
                   "subs %[number], #1\n bne 1b\n"
                   "2: ldr %[number], %[inner]\n ands %[number], #7\n beq 4f\n"
                   "3: vldm %[from]!, {s8}\n" TINYATTN_FOR_8(TINYATTN_ADD_TERMS)
                   "subs %[number], #1\n bne 3b\n"
                   "4: ldr %[number], %[to]\n vstm %[number], {s0-s7}\n"
                   "ldr %[number], %[inner]\n" TINYATTN_FOR_8(TINYATTN_MOVE_BACK)
                   : [from] "+&r"(from), [b0] "+&r"(b), [b1] "+&r"(b1), [b2] "+&r"(b2),
                     [b3] "+&r"(b3), [b4] "+&h"(b4), [b5] "+&h"(b5), [b6] "+&h"(b6),
                     [b7] "+&h"(b7), [number] "=&l"(number)
                   : [initial] "r"(initial), [inner] "m"(inner), [to] "m"(to)
                   : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
                     "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20",
                     "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31");
    }
#undef TINYATTN_FOR_8
#undef TINYATTN_MOVE_BACK
#undef TINYATTN_ADD_TERMS
#undef TINYATTN_ADD_COLUMNS
#undef TINYATTN_ADD_BOTH
  }
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
