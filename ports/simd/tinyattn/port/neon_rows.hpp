// SPDX-License-Identifier: MIT
//
// Products of one row for NEON. On ARMv7 compilers load a vector at a time and spread a factor by
// two instructions; on AArch64 they need no help.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>

namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE::detail {

struct neon_rows {
#if defined(__arm__)
// clang-format off
#define TINYATTN_LOAD_FACTOR(a) "vld1.32 {d24[], d25[]}, [%[" a "]]!\n"
#define TINYATTN_LOAD_LOW "vldm %[b]!, {d16-d23}\n"
#define TINYATTN_LOAD_LAST "vldm %[b], {d16-d23}\n add %[b], %[step]\n"
#define TINYATTN_ADD(q, b) "vfma.f32 q" #q ", q12, q" #b "\n"
#define TINYATTN_ADD_LOW                                                                          \
  TINYATTN_ADD(0, 8) TINYATTN_ADD(1, 9) TINYATTN_ADD(2, 10) TINYATTN_ADD(3, 11)
#define TINYATTN_ADD_HIGH                                                                         \
  TINYATTN_ADD(4, 8) TINYATTN_ADD(5, 9) TINYATTN_ADD(6, 10) TINYATTN_ADD(7, 11)
#define TINYATTN_STEP_2                                                                           \
  TINYATTN_LOAD_FACTOR("a") "vld1.32 {d16-d19}, [%[b]], %[step]\n"                                \
  TINYATTN_ADD(0, 8) TINYATTN_ADD(1, 9)
#define TINYATTN_STEP_4 TINYATTN_LOAD_FACTOR("a") TINYATTN_LOAD_LAST TINYATTN_ADD_LOW
#define TINYATTN_STEP_8                                                                           \
  TINYATTN_LOAD_FACTOR("a") TINYATTN_LOAD_LOW TINYATTN_ADD_LOW TINYATTN_LOAD_LAST TINYATTN_ADD_HIGH
#define TINYATTN_ROW(STEP, sums)                                                                  \
  asm volatile("vldm %[start], {" sums "}\n cmp %[turns], #0\n beq 2f\n"                          \
               "1: " STEP STEP STEP STEP "subs %[turns], %[turns], #1\n bne 1b\n"                 \
               "2: cmp %[left], #0\n beq 4f\n"                                                    \
               "3: " STEP "subs %[left], %[left], #1\n bne 3b\n"                                  \
               "4: vstm %[out], {" sums "}\n"                                                     \
               : [a] "+&r"(a), [b] "+&r"(b), [turns] "+&r"(turns), [left] "+&r"(left)             \
               : [start] "r"(start), [step] "r"(step), [out] "r"(out)                             \
               : "memory", "cc", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9",      \
                 "q10", "q11", "q12")
  // clang-format on

  static constexpr std::size_t row_vectors = 8;
  // One row of two, four or eight vectors of sums, which stand in q0 to q7. Four vectors of a row
  // of b pass through q8 to q11, its factor fills q12.
  template <std::size_t Vectors>
  requires(Vectors == 2 || Vectors == 4 || Vectors == 8) TINYATTN_ALWAYS_INLINE
      static void row_tile(const float* start, const float* a, const float* b, std::size_t b_stride,
                           float* out, std::size_t inner) noexcept {
    const std::size_t step = (b_stride - (Vectors == 8 ? 16 : 0)) * sizeof(float);
    std::size_t turns = inner / 4, left = inner % 4;
    if constexpr (Vectors == 2)
      TINYATTN_ROW(TINYATTN_STEP_2, "d0-d3");
    else if constexpr (Vectors == 4)
      TINYATTN_ROW(TINYATTN_STEP_4, "d0-d7");
    else
      TINYATTN_ROW(TINYATTN_STEP_8, "d0-d15");
  }

#undef TINYATTN_ROW
#undef TINYATTN_STEP_8
#undef TINYATTN_STEP_4
#undef TINYATTN_STEP_2
#undef TINYATTN_ADD_HIGH
#undef TINYATTN_ADD_LOW
#undef TINYATTN_ADD
#undef TINYATTN_LOAD_LAST
#undef TINYATTN_LOAD_LOW
#undef TINYATTN_LOAD_FACTOR

  static constexpr std::size_t dot_products = 8;
  // Eight columns of a transposed product of one row, four terms at a time: four columns make a
  // square, which is transposed in q8 to q11, and the others in q12 to q15. Sums stand in q0 and
  // q1, the factors fill q2 and q3.
  TINYATTN_ALWAYS_INLINE static void dots(const float* start, const float* a, const float* b,
                                          std::size_t b_stride, float* out,
                                          std::size_t inner) noexcept {
    const std::size_t step = b_stride * sizeof(float), back = 8 * step - 4 * sizeof(float),
                      back_by_one = 8 * step - sizeof(float);
    std::size_t turns = inner / 4, left = inner % 4;
    // clang-format off
#define TINYATTN_LOAD(q) "vld1.32 {" q "}, [%[b]], %[step]\n"
#define TINYATTN_TRANSPOSE(q0, q1, q2, q3, high0, low2, high1, low3)                              \
  "vtrn.32 " q0 ", " q1 "\n vtrn.32 " q2 ", " q3 "\n"                                             \
  "vswp " high0 ", " low2 "\n vswp " high1 ", " low3 "\n"
#define TINYATTN_ADD(factor, low, high)                                                           \
  "vfma.f32 q0, " factor ", " low "\n vfma.f32 q1, " factor ", " high "\n"
  asm volatile(
      "vld1.32 {d0-d3}, [%[start]]\n cmp %[turns], #0\n beq 2f\n"
      "1: " TINYATTN_LOAD("d16-d17") TINYATTN_LOAD("d18-d19") TINYATTN_LOAD("d20-d21")
      TINYATTN_LOAD("d22-d23") TINYATTN_LOAD("d24-d25") TINYATTN_LOAD("d26-d27")
      TINYATTN_LOAD("d28-d29") TINYATTN_LOAD("d30-d31") "sub %[b], %[b], %[back]\n"
      TINYATTN_TRANSPOSE("q8", "q9", "q10", "q11", "d17", "d20", "d19", "d22")
      TINYATTN_TRANSPOSE("q12", "q13", "q14", "q15", "d25", "d28", "d27", "d30")
      "vld1.32 {d4[], d5[]}, [%[a]]!\n vld1.32 {d6[], d7[]}, [%[a]]!\n"
      TINYATTN_ADD("q2", "q8", "q12") TINYATTN_ADD("q3", "q9", "q13")
      "vld1.32 {d4[], d5[]}, [%[a]]!\n vld1.32 {d6[], d7[]}, [%[a]]!\n"
      TINYATTN_ADD("q2", "q10", "q14") TINYATTN_ADD("q3", "q11", "q15")
      "subs %[turns], %[turns], #1\n bne 1b\n"
      "2: cmp %[left], #0\n beq 4f\n"
      "3: " TINYATTN_LOAD("d16[0]") TINYATTN_LOAD("d16[1]") TINYATTN_LOAD("d17[0]")
      TINYATTN_LOAD("d17[1]") TINYATTN_LOAD("d24[0]") TINYATTN_LOAD("d24[1]")
      TINYATTN_LOAD("d25[0]") TINYATTN_LOAD("d25[1]") "sub %[b], %[b], %[back_by_one]\n"
      "vld1.32 {d4[], d5[]}, [%[a]]!\n" TINYATTN_ADD("q2", "q8", "q12")
      "subs %[left], %[left], #1\n bne 3b\n"
      "4: vst1.32 {d0-d3}, [%[out]]\n"
      : [a] "+&r"(a), [b] "+&r"(b), [turns] "+&r"(turns), [left] "+&r"(left)
      : [start] "r"(start), [step] "r"(step), [back] "r"(back), [back_by_one] "r"(back_by_one),
        [out] "r"(out)
      : "memory", "cc", "q0", "q1", "q2", "q3", "q8", "q9", "q10", "q11", "q12", "q13", "q14",
        "q15");
    // clang-format on
#undef TINYATTN_ADD
#undef TINYATTN_TRANSPOSE
#undef TINYATTN_LOAD
  }

#endif
};

}  // namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE::detail
