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
  // in q0 to q5; one ldm loads the elements of a for a step. An odd step comes first.
  static constexpr std::size_t outer_rows = 3;
  template <std::size_t Rows, std::size_t Vectors>
  requires(Rows == 3 && Vectors == 2) TINYATTN_ALWAYS_INLINE
      static void outer_tile(const float* a, std::size_t a_stride, const float* b,
                             std::size_t b_stride, float* out, std::size_t out_stride,
                             std::size_t inner) noexcept {
    float *const out1 = out + out_stride, *const out2 = out1 + out_stride;
    float32x4_t s0 = four(out), s1 = four(out + 4), s2 = four(out1), s3 = four(out1 + 4),
                s4 = four(out2), s5 = four(out2 + 4);
    const std::size_t a_step = a_stride * sizeof(float), b_step = b_stride * sizeof(float);
    // clang-format off
#define TINYATTN_ADD(s, t, x) "vfma.f32 %q[" s "], q6, " x "\n vfma.f32 %q[" t "], q7, " x "\n"
#define TINYATTN_STEP(move_on)                                                                    \
  "ldm %[a], {r4, r5, r6}\n add %[a], %[a_step]\n"                                                \
  "vldrw.u32 q7, [%[b], #16]\n vldrw.u32 q6, [%[b]]" move_on                                      \
  TINYATTN_ADD("s0", "s1", "r4") TINYATTN_ADD("s2", "s3", "r5") TINYATTN_ADD("s4", "s5", "r6")
#define TINYATTN_LOOP(label, move_on)                                                             \
  label ": " TINYATTN_STEP(move_on) TINYATTN_STEP(move_on) "le lr, " label "b\n"
#define TINYATTN_MOVE_ON "\n add %[b], %[b_step]\n"
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_LOOPS TINYATTN_LOOP("3", TINYATTN_MOVE_ON)
#else
#define TINYATTN_LOOPS                                                                            \
  "cmp %[b_step], #256\n beq 5f\n cmp %[b_step], #128\n beq 4f\n"                                 \
  TINYATTN_LOOP("3", TINYATTN_MOVE_ON) "b 6f\n"                                                   \
  TINYATTN_LOOP("4", ", #128\n") "b 6f\n" TINYATTN_LOOP("5", ", #256\n")
#endif
    asm volatile("lsls lr, %[inner], #31\n beq 2f\n" TINYATTN_STEP(TINYATTN_MOVE_ON)
                 "2: lsrs %[inner], %[inner], #1\n wls lr, %[inner], 6f\n" TINYATTN_LOOPS "6:\n"
                 : [a] "+&r"(a), [b] "+&r"(b), [inner] "+&h"(inner), [s0] "+&w"(s0),
                   [s1] "+&w"(s1), [s2] "+&w"(s2), [s3] "+&w"(s3), [s4] "+&w"(s4), [s5] "+&w"(s5)
                 : [a_step] "r"(a_step), [b_step] "r"(b_step)
                 : "memory", "cc", "lr", "r4", "r5", "r6", "q6", "q7");
    // clang-format on
#undef TINYATTN_LOOPS
#undef TINYATTN_MOVE_ON
#undef TINYATTN_LOOP
#undef TINYATTN_STEP
#undef TINYATTN_ADD
    four(out) = s0, four(out + 4) = s1, four(out1) = s2, four(out1 + 4) = s3;
    four(out2) = s4, four(out2 + 4) = s5;
  }

  // sums[r][q] += the sum over k of a[r][k] * b[q][k] for four rows of a; q runs over `count` rows
  // of b, the last of which fills the remaining lanes. A vector holds the addresses of the next
  // terms, and each load increments its own. One ldrd loads the elements of a row of a for two
  // steps; the steps beyond a multiple of four come first.
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
#define TINYATTN_ADD(s, x) "vfma.f32 %q[" s "], q7, " x "\n"
#define TINYATTN_TWO_STEPS                                                                        \
  "vldrw.u32 q7, [%q[next], #4]!\n"                                                               \
  "ldrd %[inner], r8, [%[a0]], #8\n" TINYATTN_ADD("s0", "%[inner]")                               \
  "ldrd %[inner], r10, [%[a1]], #8\n" TINYATTN_ADD("s1", "%[inner]")                              \
  "ldrd %[inner], r11, [%[a2]], #8\n" TINYATTN_ADD("s2", "%[inner]")                              \
  "ldrd %[inner], r12, [%[a3]], #8\n" TINYATTN_ADD("s3", "%[inner]")                              \
  "vldrw.u32 q7, [%q[next], #4]!\n" TINYATTN_ADD("s0", "r8")                                      \
  TINYATTN_ADD("s1", "r10") TINYATTN_ADD("s2", "r11") TINYATTN_ADD("s3", "r12")
    asm volatile("ands lr, %[inner], #3\n beq 2f\n dls lr, lr\n"
                 "1: vldrw.u32 q7, [%q[next], #4]!\n"
                 "ldr r8, [%[a0]], #4\n" TINYATTN_ADD("s0", "r8") "ldr r8, [%[a1]], #4\n"
                 TINYATTN_ADD("s1", "r8") "ldr r8, [%[a2]], #4\n" TINYATTN_ADD("s2", "r8")
                 "ldr r8, [%[a3]], #4\n" TINYATTN_ADD("s3", "r8") "le lr, 1b\n"
                 "2: lsrs %[inner], %[inner], #2\n wls lr, %[inner], 4f\n"
                 "3: " TINYATTN_TWO_STEPS TINYATTN_TWO_STEPS "le lr, 3b\n 4:\n"
                 : [a0] "+&r"(a0), [a1] "+&r"(a1), [a2] "+&r"(a2), [a3] "+&r"(a3),
                   [inner] "+&r"(inner), [next] "+&w"(next), [s0] "+&w"(s0), [s1] "+&w"(s1),
                   [s2] "+&w"(s2), [s3] "+&w"(s3)
                 :
                 : "memory", "cc", "lr", "r8", "r10", "r11", "r12", "q7");
    // clang-format on
#undef TINYATTN_TWO_STEPS
#undef TINYATTN_ADD
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
