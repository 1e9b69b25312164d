// SPDX-License-Identifier: MIT
//
// Products of one row for Helium: compilers generate neither loads that increment their address nor
// hardware loops here.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct helium_rows {
#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__)  // else registers do not suffice
  // One row of two, four or six vectors of sums. Sums are in q0 to q5; a row of b is loaded into q6
  // and q7, four floats of a into core registers. The last load of a row increments the address to
  // the next row: by an immediate where the stride is 32 or 64, as in most models for
  // microcontrollers.
  static constexpr std::size_t row_vectors = 6;
  template <std::size_t Vectors>
  requires(Vectors == 2 || Vectors == 4 || Vectors == 6) TINYATTN_ALWAYS_INLINE
      static void row_tile(const float* initial, const float* a, const float* b,
                           std::size_t b_stride, float* out, std::size_t inner) noexcept {
    const std::size_t step = b_stride * sizeof(float);
    // Floats of a overwrite both registers after their last use: registers are scarce.
    register const float* from asm("r5") = initial;
    register std::size_t left asm("r6") = inner;
    // clang-format off
#define TINYATTN_REST_OF_2(DO)
#define TINYATTN_REST_OF_4(DO) DO("q2", "q3", "#32", "#48")
#define TINYATTN_REST_OF_6(DO) TINYATTN_REST_OF_4(DO) DO("q4", "q5", "#64", "#80")
#define TINYATTN_LOAD(s, t, at, next)                                                             \
  "vldrw.u32 " s ", [%[from], " at "]\n vldrw.u32 " t ", [%[from], " next "]\n"
#define TINYATTN_STORE(s, t, at, next)                                                            \
  "vstrw.32 " s ", [%[out], " at "]\n vstrw.32 " t ", [%[out], " next "]\n"
#define TINYATTN_ADD(x, s, t, at, next)                                                           \
  "vldrw.u32 q6, [%[b], " at "]\n vldrw.u32 q7, [%[b], " next "]\n"                               \
  "vfma.f32 " s ", q6, " x "\n vfma.f32 " t ", q7, " x "\n"
#define TINYATTN_ADD_R4(s, t, at, next) TINYATTN_ADD("r4", s, t, at, next)
#define TINYATTN_ADD_R5(s, t, at, next) TINYATTN_ADD("r5", s, t, at, next)
#define TINYATTN_ADD_R6(s, t, at, next) TINYATTN_ADD("r6", s, t, at, next)
#define TINYATTN_ADD_R8(s, t, at, next) TINYATTN_ADD("r8", s, t, at, next)
#define TINYATTN_STEP(REST, ADD, x, move_on)                                                      \
  REST(ADD) "vldrw.u32 q7, [%[b], #16]\n vldrw.u32 q6, [%[b]]" move_on                            \
  "vfma.f32 q1, q7, " x "\n vfma.f32 q0, q6, " x "\n"
#define TINYATTN_MOVE_ON "\n add %[b], %[step]\n"
#define TINYATTN_LOOP(label, REST, move_on)                                                       \
  label ": ldmia %[a]!, {r4, r5, r6, r8}\n" TINYATTN_STEP(REST, TINYATTN_ADD_R4, "r4", move_on)   \
  TINYATTN_STEP(REST, TINYATTN_ADD_R5, "r5", move_on)                                             \
  TINYATTN_STEP(REST, TINYATTN_ADD_R6, "r6", move_on)                                             \
  TINYATTN_STEP(REST, TINYATTN_ADD_R8, "r8", move_on) "le lr, " label "b\n"
#define TINYATTN_ROW(REST)                                                                        \
  asm volatile(TINYATTN_LOAD("q0", "q1", "#0", "#16") REST(TINYATTN_LOAD)                         \
               "ands lr, %[left], #3\n beq 2f\n dls lr, lr\n"                                     \
               "1: ldr r4, [%[a]], #4\n"                                                          \
               TINYATTN_STEP(REST, TINYATTN_ADD_R4, "r4", TINYATTN_MOVE_ON) "le lr, 1b\n"         \
               "2: lsrs %[left], %[left], #2\n wls lr, %[left], 6f\n"                             \
               "cmp %[step], #256\n beq 5f\n cmp %[step], #128\n beq 4f\n"                        \
               TINYATTN_LOOP("3", REST, TINYATTN_MOVE_ON) "b 6f\n"                                \
               TINYATTN_LOOP("4", REST, ", #128\n") "b 6f\n" TINYATTN_LOOP("5", REST, ", #256\n") \
               "6: " TINYATTN_STORE("q0", "q1", "#0", "#16") REST(TINYATTN_STORE)                 \
               : [a] "+&r"(a), [b] "+&r"(b), [from] "+&r"(from), [left] "+&r"(left)               \
               : [step] "r"(step), [out] "r"(out)                                                 \
               : "memory", "cc", "lr", "r4", "r8", "q0", "q1", "q2", "q3", "q4", "q5", "q6",      \
                 "q7")
    // clang-format on
    if constexpr (Vectors == 2)
      TINYATTN_ROW(TINYATTN_REST_OF_2);
    else if constexpr (Vectors == 4)
      TINYATTN_ROW(TINYATTN_REST_OF_4);
    else
      TINYATTN_ROW(TINYATTN_REST_OF_6);
#undef TINYATTN_ROW
#undef TINYATTN_LOOP
#undef TINYATTN_MOVE_ON
#undef TINYATTN_STEP
#undef TINYATTN_ADD_R8
#undef TINYATTN_ADD_R6
#undef TINYATTN_ADD_R5
#undef TINYATTN_ADD_R4
#undef TINYATTN_ADD
#undef TINYATTN_STORE
#undef TINYATTN_LOAD
#undef TINYATTN_REST_OF_6
#undef TINYATTN_REST_OF_4
#undef TINYATTN_REST_OF_2
  }

  // Twelve columns of a transposed product of one row. Sums are in q0 to q2. Three vectors hold the
  // addresses of the columns' next terms, and each load increments its own.
  static constexpr std::size_t dot_products = 12;
  TINYATTN_ALWAYS_INLINE static void dots(const float* initial, const float* a, const float* b,
                                          std::size_t b_stride, float* out,
                                          std::size_t inner) noexcept {
    const std::uint32_t step = b_stride * sizeof(float);
    uint32x4_t b0 = vaddq_n_u32(vmulq_n_u32(vidupq_n_u32(0, 1), step),
                                reinterpret_cast<std::uint32_t>(b) - sizeof(float));
    uint32x4_t b1 = vaddq_n_u32(b0, 4 * step), b2 = vaddq_n_u32(b1, 4 * step);
    // clang-format off
#define TINYATTN_STEP(x)                                                                          \
  "vldrw.u32 q6, [%q[b0], #4]!\n vldrw.u32 q7, [%q[b1], #4]!\n vfma.f32 q0, q6, " x "\n"          \
  "vldrw.u32 q6, [%q[b2], #4]!\n vfma.f32 q1, q7, " x "\n vfma.f32 q2, q6, " x "\n"
    asm volatile("vldrw.u32 q0, [%[initial]]\n vldrw.u32 q1, [%[initial], #16]\n"
                 "vldrw.u32 q2, [%[initial], #32]\n"
                 "ands lr, %[inner], #3\n beq 2f\n dls lr, lr\n"
                 "1: ldr r4, [%[a]], #4\n" TINYATTN_STEP("r4") "le lr, 1b\n"
                 "2: lsrs %[inner], %[inner], #2\n wls lr, %[inner], 4f\n"
                 "3: ldmia %[a]!, {r4, r5, r6, r8}\n" TINYATTN_STEP("r4") TINYATTN_STEP("r5")
                 TINYATTN_STEP("r6") TINYATTN_STEP("r8") "le lr, 3b\n"
                 "4: vstrw.32 q0, [%[out]]\n vstrw.32 q1, [%[out], #16]\n"
                 "vstrw.32 q2, [%[out], #32]\n"
                 : [a] "+&r"(a), [inner] "+&r"(inner), [b0] "+&w"(b0), [b1] "+&w"(b1),
                   [b2] "+&w"(b2)
                 : [initial] "r"(initial), [out] "r"(out)
                 : "memory", "cc", "lr", "r4", "r5", "r6", "r8", "q0", "q1", "q2", "q6", "q7");
    // clang-format on
#undef TINYATTN_STEP
  }
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
