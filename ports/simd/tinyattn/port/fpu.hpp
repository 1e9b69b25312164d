// SPDX-License-Identifier: MIT
//
// One lane on a core that fuses multiply and add in hardware: Cortex-M4F, M7 and M33, RISC-V with
// F, IBM Z, or x86 with FMA.
#pragma once

#include "tinyattn/port/core_shifts.hpp"
#include "tinyattn/port/fpu_backward.hpp"
#include "tinyattn/port/fpu_integers.hpp"
#include "tinyattn/port/fpu_rows.hpp"
#include "tinyattn/port/fpu_softmax.hpp"
#include "tinyattn/port/fpu_steps.hpp"
#include "tinyattn/port/rounded.hpp"
#include "tinyattn/port/scalar.hpp"

#include <cstddef>

#if !defined(__ARM_FEATURE_FMA) && !defined(__FMA__) && !defined(__FP_FAST_FMAF) && \
    !defined(__riscv_flen)
#error "the port `fpu` needs a fused multiply-add: -mfpu=fpv4-sp-d16, or -mfma on x86"
#endif

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct fpu : scalar, fpu_rows, fpu_softmax, fpu_backward, fpu_integers, fpu_steps, core_shifts {
  using one_lane = fpu;
  static constexpr std::size_t registers = 32;
#if defined(__arm__)
  static constexpr std::size_t tile_vectors = 8;
  static constexpr std::size_t tile_height = 2;
  static constexpr std::size_t group = 6;
#else
  static constexpr std::size_t tile_vectors = 6;
#endif

#if defined(__arm__)
  using scalar::load_row;
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, float (&row)[6]) noexcept {
    register float r0 asm("s26");
    register float r1 asm("s27");
    register float r2 asm("s28");
    register float r3 asm("s29");
    register float r4 asm("s30");
    register float r5 asm("s31");
    asm("vldm %6, {s26-s31}"
        : "=t"(r0), "=t"(r1), "=t"(r2), "=t"(r3), "=t"(r4), "=t"(r5)
        : "r"(from), "m"(*reinterpret_cast<const float(*)[6]>(from)));
    row[0] = r0, row[1] = r1, row[2] = r2, row[3] = r3, row[4] = r4, row[5] = r5;
  }
  using scalar::store_row;
  TINYATTN_ALWAYS_INLINE static void store_row(const float (&row)[6], float* to) noexcept {
    register float r0 asm("s26") = row[0];
    register float r1 asm("s27") = row[1];
    register float r2 asm("s28") = row[2];
    register float r3 asm("s29") = row[3];
    register float r4 asm("s30") = row[4];
    register float r5 asm("s31") = row[5];
    asm("vstm %1, {s26-s31}"
        : "=m"(*reinterpret_cast<float(*)[6]>(to))
        : "r"(to), "t"(r0), "t"(r1), "t"(r2), "t"(r3), "t"(r4), "t"(r5));
  }

#if defined(__OPTIMIZE__)  // otherwise registers do not suffice
#if !defined(TINYATTN_M33)
  // A tile of two rows of eight sums, in assembly: one vldm loads a row of b, others load elements
  // of a for a few steps. Compilers generate no vldm, and copy between registers. Sums are in s0 to
  // s15, elements of a in s16 to s23, the row of b in s24 to s31. Leftover steps run the last step
  // of the loop's code, one at a time. The constraint h puts one pointer into a high register: GCC
  // 12 would want low ones for all.
  template <std::size_t Rows, std::size_t Vectors>
  requires(Rows == 2 && Vectors == 8) TINYATTN_ALWAYS_INLINE
      static void tile(const float* initial, const float* a, std::size_t a_stride, const float* b,
                       std::size_t b_stride, float* out, std::size_t out_stride,
                       std::size_t inner) noexcept {
    const float* a1 = a + a_stride;
    float* const out1 = out + out_stride;
    const std::size_t step = b_stride * sizeof(float);
    // clang-format off
#define TINYATTN_ADD(s, b, a) "vfma.f32 s" #s ", s" #a ", s" #b "\n"
#define TINYATTN_STEP(a, a1)                                                                      \
  "vldm %[b], {s24-s31}\n add %[b], %[step]\n"                                                    \
  TINYATTN_ADD(0, 24, a) TINYATTN_ADD(1, 25, a) TINYATTN_ADD(2, 26, a) TINYATTN_ADD(3, 27, a)     \
  TINYATTN_ADD(4, 28, a) TINYATTN_ADD(5, 29, a) TINYATTN_ADD(6, 30, a) TINYATTN_ADD(7, 31, a)     \
  TINYATTN_ADD(8, 24, a1) TINYATTN_ADD(9, 25, a1) TINYATTN_ADD(10, 26, a1)                        \
  TINYATTN_ADD(11, 27, a1) TINYATTN_ADD(12, 28, a1) TINYATTN_ADD(13, 29, a1)                      \
  TINYATTN_ADD(14, 30, a1) TINYATTN_ADD(15, 31, a1)
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_TURN                                                                             \
  "vldm %[a]!, {s18-s19}\n vldm %[a1]!, {s22-s23}\n" TINYATTN_STEP(18, 22)
#define TINYATTN_STEPS "2"
#define TINYATTN_STEPS_BUT_ONE "1"
#else
#define TINYATTN_TURN                                                                             \
  "vldm %[a]!, {s16-s19}\n vldm %[a1]!, {s20-s23}\n"                                              \
  TINYATTN_STEP(16, 20) TINYATTN_STEP(17, 21) TINYATTN_STEP(18, 22)
#define TINYATTN_STEPS "4"
#define TINYATTN_STEPS_BUT_ONE "3"
#endif
    asm volatile("vldm %[initial], {s0-s7}\n vldm %[initial], {s8-s15}\n"
                 "subs %[inner], #" TINYATTN_STEPS "\n bcc 3f\n"
                 ".p2align 2\n 1: " TINYATTN_TURN
                 "2: " TINYATTN_STEP(19, 23) "subs %[inner], #" TINYATTN_STEPS "\n bcs 1b\n"
                 "3: adds %[inner], #" TINYATTN_STEPS_BUT_ONE "\n bmi 4f\n"
                 "vldm %[a]!, {s19}\n vldm %[a1]!, {s23}\n b 2b\n"
                 "4: vstm %[out], {s0-s7}\n vstm %[out1], {s8-s15}\n"
                 : [a] "+&r"(a), [a1] "+&r"(a1), [b] "+&h"(b), [inner] "+&l"(inner)
                 : [initial] "r"(initial), [step] "r"(step), [out] "r"(out), [out1] "r"(out1)
                 : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
                   "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20",
                   "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31");
    // clang-format on
#undef TINYATTN_STEPS_BUT_ONE
#undef TINYATTN_STEPS
#undef TINYATTN_TURN
#undef TINYATTN_STEP
#undef TINYATTN_ADD
  }
#endif

  // Tiles of an outer product, which accumulate into `out`: three rows of eight sums, or one. Sums
  // are in s0 to s23, elements of a in s24 to s26, four elements of a row of b in s28 to s31. In a
  // tile of one row, eight of b are in s8 to s15.
  static constexpr std::size_t outer_rows = 3;
  template <std::size_t Rows, std::size_t Vectors>
  requires((Rows == 3 || Rows == 1) && Vectors == 8) TINYATTN_ALWAYS_INLINE
      static void outer_tile(const float* a, std::size_t a_stride, const float* b,
                             std::size_t b_stride, float* out, std::size_t out_stride,
                             std::size_t inner) noexcept {
    const std::size_t a_step = a_stride * sizeof(float),
                      b_step = (b_stride - (Rows == 1 ? 0 : 4)) * sizeof(float),
                      out_step = out_stride * sizeof(float);
    // clang-format off
#define TINYATTN_ADD(s, b, a) "vfma.f32 s" #s ", s" #a ", s" #b "\n"
#define TINYATTN_ADD_FOUR(s0, s1, s2, s3, b0, b1, b2, b3, a)                                       \
  TINYATTN_ADD(s0, b0, a) TINYATTN_ADD(s1, b1, a) TINYATTN_ADD(s2, b2, a) TINYATTN_ADD(s3, b3, a)
#define TINYATTN_STEP_1                                                                           \
  "vldm %[a], {s24}\n add %[a], %[a_step]\n vldm %[b], {s8-s15}\n add %[b], %[b_step]\n"           \
  TINYATTN_ADD_FOUR(0, 1, 2, 3, 8, 9, 10, 11, 24)                                                 \
  TINYATTN_ADD_FOUR(4, 5, 6, 7, 12, 13, 14, 15, 24)
#define TINYATTN_STEP_3                                                                           \
  "vldm %[a], {s24-s26}\n add %[a], %[a_step]\n vldm %[b]!, {s28-s31}\n"                          \
  TINYATTN_ADD_FOUR(0, 1, 2, 3, 28, 29, 30, 31, 24)                                               \
  TINYATTN_ADD_FOUR(8, 9, 10, 11, 28, 29, 30, 31, 25)                                             \
  TINYATTN_ADD_FOUR(16, 17, 18, 19, 28, 29, 30, 31, 26)                                           \
  "vldm %[b], {s28-s31}\n add %[b], %[b_step]\n"                                                 \
  TINYATTN_ADD_FOUR(4, 5, 6, 7, 28, 29, 30, 31, 24)                                               \
  TINYATTN_ADD_FOUR(12, 13, 14, 15, 28, 29, 30, 31, 25)                                           \
  TINYATTN_ADD_FOUR(20, 21, 22, 23, 28, 29, 30, 31, 26)
#define TINYATTN_LOOP_1(STEP)                                                                     \
  "cmp %[inner], #0\n beq 4f\n 1: " STEP "subs %[inner], #1\n bne 1b\n 4: "
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_LOOP_3 TINYATTN_LOOP_1
#else
#define TINYATTN_LOOP_3(STEP)                                                                     \
  "subs %[inner], #4\n bcc 3f\n"                                                                  \
  "1: " STEP STEP STEP "2: " STEP "subs %[inner], #4\n bcs 1b\n"                                  \
  "3: adds %[inner], #3\n bpl 2b\n"
#endif
#define TINYATTN_OUTER(load, loop, store)                                                         \
  asm volatile(load loop store                                                                    \
               : [a] "+&r"(a), [b] "+&r"(b), [out] "+&r"(out), [inner] "+&l"(inner)               \
               : [a_step] "r"(a_step), [b_step] "r"(b_step), [out_step] "r"(out_step)             \
               : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",      \
                 "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20",     \
                 "s21", "s22", "s23", "s24", "s25", "s26", "s28", "s29", "s30", "s31")
    // clang-format on
    if constexpr (Rows == 1)
      TINYATTN_OUTER("vldm %[out], {s0-s7}\n", TINYATTN_LOOP_1(TINYATTN_STEP_1),
                     "vstm %[out], {s0-s7}\n");
    else
      TINYATTN_OUTER(
          "vldm %[out], {s0-s7}\n add %[out], %[out_step]\n"
          "vldm %[out], {s8-s15}\n add %[out], %[out_step]\n"
          "vldm %[out], {s16-s23}\n",
          TINYATTN_LOOP_3(TINYATTN_STEP_3),
          "vstm %[out], {s16-s23}\n sub %[out], %[out_step]\n"
          "vstm %[out], {s8-s15}\n sub %[out], %[out_step]\n"
          "vstm %[out], {s0-s7}\n");
#undef TINYATTN_OUTER
#undef TINYATTN_LOOP_3
#undef TINYATTN_LOOP_1
#undef TINYATTN_STEP_3
#undef TINYATTN_STEP_1
#undef TINYATTN_ADD_FOUR
#undef TINYATTN_ADD
  }
#endif
#endif

  TINYATTN_ALWAYS_INLINE static float fma(float a, float b, float c) noexcept {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b,
                                     c);  // Clang may make the other a call, which sets errno
#else
    return __builtin_fmaf(a, b, c);
#endif
  }
#if defined(__arm__)
  // An asm statement: barriers before an addition would copy operands that are still needed.
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept {
    float sum;
    asm("vadd.f32 %0, %1, %2" : "=t"(sum) : "t"(a), "t"(b));
    return sum;
  }
  TINYATTN_ALWAYS_INLINE static float negative_magnitude(float x) noexcept {
    return -__builtin_fabsf(x);
  }
#else
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept {
    return detail::rounded(a) + detail::rounded(b);
  }
#endif
#if defined(__ARM_FEATURE_NUMERIC_MAXMIN) ||                     \
    (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
     (__ARM_ARCH >= 8 || (__ARM_FP & 8)))
  // Cortex-M7 and later have an instruction for this.
  TINYATTN_ALWAYS_INLINE static float maximum(float a, float b) noexcept {
    return __builtin_fmaxf(a, b);
  }
#endif
  TINYATTN_ALWAYS_INLINE static float mul(float a, float b) noexcept {
    return detail::rounded(a * b);
  }
};
#undef TINYATTN_M33

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
