// SPDX-License-Identifier: MIT
//
// Products of one row for `neon`, in assembly: loads increment their address by a register or, on
// ARMv7, read six vectors or broadcast an element, for which there are no intrinsics.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

// clang-format off
struct neon_rows {
#if defined(__arm__)
  // One row of eight, four or two vectors, four steps of k in an iteration. Sums are in q0 to q7,
  // the last one in q7; a row of b is loaded into q8 to q13; q15 holds a broadcast element of a.
  // The last load of a row of b increments the address to the next row.
  static constexpr std::size_t row_vectors = 8;
  template <std::size_t Vectors>
  requires(Vectors == 2 || Vectors == 4 || Vectors == 8) TINYATTN_ALWAYS_INLINE
      static void row_tile(const float* initial, const float* a, const float* b, std::size_t b_stride,
                           float* out, std::size_t inner) noexcept {
    const std::size_t step = (b_stride - 4 * (Vectors - 2)) * sizeof(float);
#define TINYATTN_STEP(FIRST)                                                                      \
  "vld1.32 {d30[], d31[]}, [%[a]]!\n" FIRST                                                       \
  "vld1.32 {d16-d19}, [%[b]], %[step]\n vfma.f32 q6, q8, q15\n vfma.f32 q7, q9, q15\n"
#define TINYATTN_ROW(sums, FIRST)                                                                 \
  asm volatile("vldm %[initial], {" sums "}\n"                                                      \
               "ands %[initial], %[inner], #3\n beq 2f\n"                                           \
               "1: " TINYATTN_STEP(FIRST) "subs %[initial], %[initial], #1\n bne 1b\n"                \
               "2: lsrs %[inner], %[inner], #2\n beq 4f\n"                                        \
               "3: " TINYATTN_STEP(FIRST) TINYATTN_STEP(FIRST) TINYATTN_STEP(FIRST)               \
               TINYATTN_STEP(FIRST) "subs %[inner], %[inner], #1\n bne 3b\n"                      \
               "4: vstm %[out], {" sums "}\n"                                                     \
               : [initial] "+&r"(initial), [a] "+&r"(a), [b] "+&r"(b), [inner] "+&r"(inner)           \
               : [step] "r"(step), [out] "r"(out)                                                 \
               : "memory", "cc", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9",      \
                 "q10", "q11", "q12", "q13", "q15")
    if constexpr (Vectors == 2)
      TINYATTN_ROW("d12-d15", "");
    else if constexpr (Vectors == 4)
      TINYATTN_ROW("d8-d15", "vld1.32 {d16-d19}, [%[b]]!\n"
                             "vfma.f32 q4, q8, q15\n vfma.f32 q5, q9, q15\n");
    else
      TINYATTN_ROW("d0-d15", "vldm %[b]!, {d16-d27}\n"
                             "vfma.f32 q0, q8, q15\n vfma.f32 q1, q9, q15\n"
                             "vfma.f32 q2, q10, q15\n vfma.f32 q3, q11, q15\n"
                             "vfma.f32 q4, q12, q15\n vfma.f32 q5, q13, q15\n");
#undef TINYATTN_ROW
#undef TINYATTN_STEP
  }
#endif

#if defined(__ARM_NEON)
  // Sixteen columns of a transposed product of one row, four terms of each in an iteration. One
  // load puts a column's terms into one lane of registers 0 to 3, and increments the address to the
  // next column; after the last column it returns to the first. Floats of a are in registers from 4
  // on, sums in registers from 16 on (on ARMv7 from 8 on).
  static constexpr std::size_t dot_products = 16;
  TINYATTN_ALWAYS_INLINE static void dots(const float* initial, const float* a, const float* b,
                                          std::size_t b_stride, float* out,
                                          std::size_t inner) noexcept {
    const std::size_t step = b_stride * sizeof(float);
    std::size_t back = sizeof(float) - (dot_products - 1) * step;
#if defined(__aarch64__)
#define TINYATTN_COLUMNS(DO) DO("v16", "step") DO("v17", "step") DO("v18", "step") DO("v19", "back")
#define TINYATTN_ONE(sum, last_step)                                                              \
  "ld1 {v0.s}[0], [%[b]], %[step]\n ld1 {v0.s}[1], [%[b]], %[step]\n"                             \
  "ld1 {v0.s}[2], [%[b]], %[step]\n ld1 {v0.s}[3], [%[b]], %[" last_step "]\n"                    \
  "fmla " sum ".4s, v0.4s, v4.s[0]\n"
#define TINYATTN_FOUR(sum, last_step)                                                             \
  "ld4 {v0.s - v3.s}[0], [%[b]], %[step]\n ld4 {v0.s - v3.s}[1], [%[b]], %[step]\n"               \
  "ld4 {v0.s - v3.s}[2], [%[b]], %[step]\n ld4 {v0.s - v3.s}[3], [%[b]], %[" last_step "]\n"      \
  "fmla " sum ".4s, v0.4s, v4.s[0]\n fmla " sum ".4s, v1.4s, v4.s[1]\n"                           \
  "fmla " sum ".4s, v2.4s, v4.s[2]\n fmla " sum ".4s, v3.4s, v4.s[3]\n"
    asm volatile("ld1 {v16.4s - v19.4s}, [%[initial]]\n"
                 "ands %[initial], %[inner], #3\n b.eq 2f\n"
                 "1: ldr s4, [%[a]], #4\n" TINYATTN_COLUMNS(TINYATTN_ONE)
                 "subs %[initial], %[initial], #1\n b.ne 1b\n"
                 "2: lsr %[inner], %[inner], #2\n cbz %[inner], 4f\n"
                 "add %[back], %[back], #12\n"
                 "3: ldr q4, [%[a]], #16\n" TINYATTN_COLUMNS(TINYATTN_FOUR)
                 "subs %[inner], %[inner], #1\n b.ne 3b\n"
                 "4: st1 {v16.4s - v19.4s}, [%[out]]\n"
                 : [initial] "+&r"(initial), [a] "+&r"(a), [b] "+&r"(b), [inner] "+&r"(inner),
                   [back] "+&r"(back)
                 : [step] "r"(step), [out] "r"(out)
                 : "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v16", "v17", "v18", "v19");
#else
#define TINYATTN_COLUMNS(DO) DO("q8", "step") DO("q9", "step") DO("q10", "step") DO("q11", "back")
#define TINYATTN_ONE(sum, last_step)                                                              \
  "vld1.32 {d0[0]}, [%[b]], %[step]\n vld1.32 {d0[1]}, [%[b]], %[step]\n"                         \
  "vld1.32 {d1[0]}, [%[b]], %[step]\n vld1.32 {d1[1]}, [%[b]], %[" last_step "]\n"                \
  "vfma.f32 " sum ", q0, q4\n"
#define TINYATTN_FOUR(sum, last_step)                                                             \
  "vld4.32 {d0[0], d2[0], d4[0], d6[0]}, [%[b]], %[step]\n"                                       \
  "vld4.32 {d0[1], d2[1], d4[1], d6[1]}, [%[b]], %[step]\n"                                       \
  "vld4.32 {d1[0], d3[0], d5[0], d7[0]}, [%[b]], %[step]\n"                                       \
  "vld4.32 {d1[1], d3[1], d5[1], d7[1]}, [%[b]], %[" last_step "]\n"                              \
  "vfma.f32 " sum ", q0, q4\n vfma.f32 " sum ", q1, q5\n"                                         \
  "vfma.f32 " sum ", q2, q6\n vfma.f32 " sum ", q3, q7\n"
    asm volatile("vldm %[initial], {d16-d23}\n"
                 "ands %[initial], %[inner], #3\n beq 2f\n"
                 "1: vld1.32 {d8[], d9[]}, [%[a]]!\n" TINYATTN_COLUMNS(TINYATTN_ONE)
                 "subs %[initial], %[initial], #1\n bne 1b\n"
                 "2: lsrs %[inner], %[inner], #2\n beq 4f\n"
                 "add %[back], %[back], #12\n"
                 "3: vld1.32 {d8[], d9[]}, [%[a]]!\n vld1.32 {d10[], d11[]}, [%[a]]!\n"
                 "vld1.32 {d12[], d13[]}, [%[a]]!\n vld1.32 {d14[], d15[]}, [%[a]]!\n"
                 TINYATTN_COLUMNS(TINYATTN_FOUR)
                 "subs %[inner], %[inner], #1\n bne 3b\n"
                 "4: vstm %[out], {d16-d23}\n"
                 : [initial] "+&r"(initial), [a] "+&r"(a), [b] "+&r"(b), [inner] "+&r"(inner),
                   [back] "+&r"(back)
                 : [step] "r"(step), [out] "r"(out)
                 : "memory", "cc", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9",
                   "q10", "q11");
#endif
#undef TINYATTN_FOUR
#undef TINYATTN_ONE
#undef TINYATTN_COLUMNS
  }
#endif
};
// clang-format on

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
