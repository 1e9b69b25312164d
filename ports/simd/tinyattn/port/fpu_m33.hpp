// SPDX-License-Identifier: MIT
//
// Products of one row and of two for the FPU of Cortex-M33, which takes no other instruction for
// two cycles after a vfma, while the core goes on: it loads elements of b into its registers
// meanwhile, of which vmov moves two in a cycle.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

// ARMv8-M with an FPU that has no doubles. fpu.hpp undefines the macro.
#if defined(__OPTIMIZE__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    __ARM_ARCH >= 8 && !(__ARM_FP & 8)
#define TINYATTN_M33

struct fpu_m33 {
  // Sums are in s0 to s15, an element of a in s16, that of another row in s17. Two elements of b
  // are in s18 and s19, the next two in s20 and s21, and those after them are on their way in x and
  // y. After the last row b stays, since two pairs of its next row are loaded in vain.
  // clang-format off
#define TINYATTN_ADD(s, a, b) "vfma.f32 s" #s ", s" #a ", s" #b "\n"
#define TINYATTN_LOAD(at) "ldrd %[x], %[y], [%[b], #" #at "]\n"
#define TINYATTN_MOVE_TO(s, t) "vmov s" #s ", s" #t ", %[x], %[y]\n"
#define TINYATTN_EVEN(s, t, next)                                                                 \
  TINYATTN_MOVE_TO(20, 21) TINYATTN_ADD(s, 16, 18) TINYATTN_LOAD(next) TINYATTN_ADD(t, 16, 19)
#define TINYATTN_ODD(s, t, next)                                                                  \
  TINYATTN_MOVE_TO(18, 19) TINYATTN_ADD(s, 16, 20) TINYATTN_LOAD(next) TINYATTN_ADD(t, 16, 21)
#define TINYATTN_EVEN_OF_BOTH(s, t, u, v, next)                                                   \
  TINYATTN_EVEN(s, t, next) TINYATTN_ADD(u, 17, 18) TINYATTN_ADD(v, 17, 19)
#define TINYATTN_ODD_OF_BOTH(s, t, u, v, next)                                                    \
  TINYATTN_ODD(s, t, next) TINYATTN_ADD(u, 17, 20) TINYATTN_ADD(v, 17, 21)
#define TINYATTN_NEXT_ROW "subs %[left], #1\n it ne\n addne %[b], %[step]\n"
#define TINYATTN_LOOP(step)                                                                       \
  "cmp %[left], #0\n beq 2f\n"                                                                    \
  TINYATTN_LOAD(0) TINYATTN_MOVE_TO(18, 19) TINYATTN_LOAD(8) "1: " step "bne 1b\n 2: "
  // clang-format on

  // One row of eight or sixteen sums.
  static constexpr std::size_t row_vectors = 16;
  template <std::size_t Vectors>
  requires(Vectors == 8 || Vectors == 16) TINYATTN_ALWAYS_INLINE
      static void row_tile(const float* initial, const float* a, const float* b,
                           std::size_t b_stride, float* out, std::size_t inner) noexcept {
    const std::size_t step = b_stride * sizeof(float);
    std::size_t x, y;
    // clang-format off
#define TINYATTN_ROW(sums, pairs)                                                                 \
  asm volatile("vldm %[initial], {" sums "}\n"                                                    \
               TINYATTN_LOOP("vldm %[a]!, {s16}\n" pairs) "vstm %[out], {" sums "}\n"             \
               : [a] "+&r"(a), [b] "+&r"(b), [left] "+&l"(inner), [x] "=&r"(x), [y] "=&r"(y)      \
               : [initial] "r"(initial), [step] "r"(step), [out] "r"(out)                         \
               : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",      \
                 "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s18", "s19", "s20", "s21")
#define TINYATTN_EIGHT                                                                            \
  TINYATTN_EVEN(0, 1, 16) TINYATTN_ODD(2, 3, 24) TINYATTN_NEXT_ROW                                \
  TINYATTN_EVEN(4, 5, 0) TINYATTN_ODD(6, 7, 8)
#define TINYATTN_SIXTEEN                                                                          \
  TINYATTN_EVEN(0, 1, 16) TINYATTN_ODD(2, 3, 24) TINYATTN_EVEN(4, 5, 32) TINYATTN_ODD(6, 7, 40)   \
  TINYATTN_EVEN(8, 9, 48) TINYATTN_ODD(10, 11, 56) TINYATTN_NEXT_ROW                              \
  TINYATTN_EVEN(12, 13, 0) TINYATTN_ODD(14, 15, 8)
    // clang-format on
    if constexpr (Vectors == 8)
      TINYATTN_ROW("s0-s7", TINYATTN_EIGHT);
    else
      TINYATTN_ROW("s0-s15", TINYATTN_SIXTEEN);
#undef TINYATTN_SIXTEEN
#undef TINYATTN_EIGHT
#undef TINYATTN_ROW
  }

  // A tile of two rows of eight sums.
  template <std::size_t Rows, std::size_t Vectors>
  requires(Rows == 2 && Vectors == 8) TINYATTN_ALWAYS_INLINE
      static void tile(const float* initial, const float* a, std::size_t a_stride, const float* b,
                       std::size_t b_stride, float* out, std::size_t out_stride,
                       std::size_t inner) noexcept {
    const float* a1 = a + a_stride;
    float* const out1 = out + out_stride;
    const std::size_t step = b_stride * sizeof(float);
    std::size_t x, y;
    // clang-format off
    asm volatile("vldm %[initial], {s0-s7}\n vldm %[initial], {s8-s15}\n"
                 TINYATTN_LOOP("vldm %[a]!, {s16}\n vldm %[a1]!, {s17}\n"
                               TINYATTN_EVEN_OF_BOTH(0, 1, 8, 9, 16)
                               TINYATTN_ODD_OF_BOTH(2, 3, 10, 11, 24) TINYATTN_NEXT_ROW
                               TINYATTN_EVEN_OF_BOTH(4, 5, 12, 13, 0)
                               TINYATTN_ODD_OF_BOTH(6, 7, 14, 15, 8))
                 "vstm %[out], {s0-s7}\n vstm %[out1], {s8-s15}\n"
                 : [a] "+&r"(a), [a1] "+&r"(a1), [b] "+&r"(b), [left] "+&l"(inner), [x] "=&r"(x),
                   [y] "=&r"(y)
                 : [initial] "r"(initial), [step] "r"(step), [out] "r"(out), [out1] "r"(out1)
                 : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
                   "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20",
                   "s21");
    // clang-format on
  }
#undef TINYATTN_LOOP
#undef TINYATTN_NEXT_ROW
#undef TINYATTN_ODD_OF_BOTH
#undef TINYATTN_EVEN_OF_BOTH
#undef TINYATTN_ODD
#undef TINYATTN_EVEN
#undef TINYATTN_MOVE_TO
#undef TINYATTN_LOAD
#undef TINYATTN_ADD
};
#endif

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
