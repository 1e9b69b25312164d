// SPDX-License-Identifier: MIT
//
// Tiles of the products of a backward pass, for Helium.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct helium_backward {
#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__)  // else registers do not suffice
  // Blocks of queries are four tiles high: the code around tiles takes much of the time.
  static constexpr std::size_t backward_rows = 12;

  // A tile of an outer product, which accumulates into `out`: three rows of two vectors. Sums are
  // in s0 to s5. As in the tiles of helium.hpp, loads for the next step lie between the fmas of a
  // step, and the last step is apart.
  static constexpr std::size_t outer_rows = 3;
  template <std::size_t Rows, std::size_t Vectors>
  requires(Rows == 3 && Vectors == 2) TINYATTN_ALWAYS_INLINE
      static void outer_tile(const float* a, std::size_t a_stride, const float* b,
                             std::size_t b_stride, float* out, std::size_t out_stride,
                             std::size_t inner) noexcept {
    float *const out1 = out + out_stride, *const out2 = out1 + out_stride;
    float32x4_t s0 = four(out), s1 = four(out + 4), s2 = four(out1), s3 = four(out1 + 4),
                s4 = four(out2), s5 = four(out2 + 4);
    float x1, x2;
    // clang-format off
#define TINYATTN_ADD(s, q, x) "vfma.f32 %q[" s "], " q ", %[" x "]\n"
#define TINYATTN_COLUMN "ldr %[x0], [%[a]]\n ldr %[x1], [%[a], #4]\n ldr %[x2], [%[a], #8]\n"
#define TINYATTN_STEP(NEXT)                                                                       \
  TINYATTN_ADD("s0", "q6", "x0") "vldrw.u32 q7, [%[b], #16]\n"                                    \
  TINYATTN_ADD("s2", "q6", "x1") NEXT("add %[b], %[b_step]\n")                                    \
  TINYATTN_ADD("s4", "q6", "x2") NEXT("vldrw.u32 q6, [%[b]]\n add %[a], %[a_step]\n")             \
  TINYATTN_ADD("s1", "q7", "x0") NEXT("ldr %[x0], [%[a]]\n")                                      \
  TINYATTN_ADD("s3", "q7", "x1") NEXT("ldr %[x1], [%[a], #4]\n")                                  \
  TINYATTN_ADD("s5", "q7", "x2") NEXT("ldr %[x2], [%[a], #8]\n")
#define TINYATTN_DO(instructions) instructions
#define TINYATTN_OMIT(instructions)
    asm volatile("subs lr, %[x0], #1\n blo 3f\n vldrw.u32 q6, [%[b]]\n" TINYATTN_COLUMN
                 "wls lr, lr, 2f\n"
                 "1: " TINYATTN_STEP(TINYATTN_DO) "le lr, 1b\n"
                 "2: " TINYATTN_STEP(TINYATTN_OMIT) "3:\n"
                 : [a] "+&r"(a), [b] "+&r"(b), [x0] "+&r"(inner), [x1] "=&r"(x1), [x2] "=&r"(x2),
                   [s0] "+&w"(s0), [s1] "+&w"(s1), [s2] "+&w"(s2), [s3] "+&w"(s3),
                   [s4] "+&w"(s4), [s5] "+&w"(s5)
                 : [a_step] "h"(a_stride * sizeof(float)), [b_step] "h"(b_stride * sizeof(float))
                 : "memory", "cc", "lr", "q6", "q7");
    // clang-format on
#undef TINYATTN_OMIT
#undef TINYATTN_DO
#undef TINYATTN_STEP
#undef TINYATTN_COLUMN
#undef TINYATTN_ADD
    four(out) = s0, four(out + 4) = s1, four(out1) = s2, four(out1 + 4) = s3;
    four(out2) = s4, four(out2 + 4) = s5;
  }

  // sums[r][q] += the sum over k of a[r][k] * b[q][k] for four rows of a; q runs over `count` rows
  // of b, the last of which fills the remaining lanes. A vector holds the addresses of the next
  // terms, and each load increments its own. Loads for the next step lie between the fmas of a
  // step; two steps exchange q6 and q7.
  static constexpr std::size_t dot_rows = 4;
  TINYATTN_ALWAYS_INLINE static void dot_tile(const float* const (&a)[4], const float* b,
                                              std::size_t b_stride, std::size_t count,
                                              std::size_t inner, float32x4_t (&sums)[4]) noexcept {
    const float *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
    const uint32x4_t row =
        vminq_u32(vidupq_n_u32(0, 1), vdupq_n_u32(static_cast<std::uint32_t>(count - 1)));
    uint32x4_t next =
        vaddq_n_u32(vmulq_n_u32(row, static_cast<std::uint32_t>(b_stride * sizeof(float))),
                    reinterpret_cast<std::uint32_t>(b) - sizeof(float));
    float32x4_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    // clang-format off
#define TINYATTN_LOAD(q) "vldrw.u32 " q ", [%q[next], #4]!\n"
#define TINYATTN_A(x, a) "ldr " x ", [%[" a "]], #4\n"
#define TINYATTN_ADD(s, q, x) "vfma.f32 %q[" s "], " q ", " x "\n"
#define TINYATTN_STEP(q, NEXT, early, late)                                                       \
  TINYATTN_ADD("s0", q, "r8") early TINYATTN_ADD("s1", q, "r10") NEXT(TINYATTN_A("r8", "a0"))     \
  TINYATTN_ADD("s2", q, "r11") NEXT(TINYATTN_A("r10", "a1")) TINYATTN_ADD("s3", q, "r12")         \
  NEXT(TINYATTN_A("r11", "a2") TINYATTN_A("r12", "a3")) late
#define TINYATTN_DO(instructions) instructions
#define TINYATTN_OMIT(instructions)
    asm volatile("subs lr, %[inner], #1\n blo 4f\n" TINYATTN_LOAD("q7") TINYATTN_A("r8", "a0")
                 TINYATTN_A("r10", "a1") TINYATTN_A("r11", "a2") TINYATTN_A("r12", "a3")
                 "lsrs lr, lr, #1\n bcc 1f\n"
                 TINYATTN_STEP("q7", TINYATTN_DO, "", TINYATTN_LOAD("q7"))
                 "1: wls lr, lr, 3f\n"
                 "2: " TINYATTN_STEP("q7", TINYATTN_DO, TINYATTN_LOAD("q6"), "")
                 TINYATTN_STEP("q6", TINYATTN_DO, TINYATTN_LOAD("q7"), "") "le lr, 2b\n"
                 "3: " TINYATTN_STEP("q7", TINYATTN_OMIT, "", "") "4:\n"
                 : [a0] "+&r"(a0), [a1] "+&r"(a1), [a2] "+&r"(a2), [a3] "+&r"(a3),
                   [next] "+&w"(next), [s0] "+&w"(s0), [s1] "+&w"(s1), [s2] "+&w"(s2),
                   [s3] "+&w"(s3)
                 : [inner] "r"(inner)
                 : "memory", "cc", "lr", "r8", "r10", "r11", "r12", "q6", "q7");
    // clang-format on
#undef TINYATTN_OMIT
#undef TINYATTN_DO
#undef TINYATTN_STEP
#undef TINYATTN_ADD
#undef TINYATTN_A
#undef TINYATTN_LOAD
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
  }

 private:
  // A vector in memory, without intrinsics (helium.hpp says why).
  using unaligned [[gnu::aligned(4), gnu::may_alias]] = float32x4_t;
  TINYATTN_ALWAYS_INLINE static unaligned& four(float* at) noexcept {
    return *reinterpret_cast<unaligned*>(at);
  }
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
