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
  // One row of two, four or six vectors of sums, in q0 to q5. Vectors of b are loaded into q6 and
  // q7 in turn, since a load overlaps with an fma and not with a load: each the second fma before
  // its own. They and the next float of a are loaded during the step before, so that the last step
  // is apart. A load can increment its address by an immediate, not by a register: so strides of 32
  // and 64 floats, as in most models for microcontrollers, have loops of their own.
  static constexpr std::size_t row_vectors = 6;
  template <std::size_t Vectors>
  requires(Vectors == 2 || Vectors == 4 || Vectors == 6) TINYATTN_ALWAYS_INLINE
      static void row_tile(const float* initial, const float* a, const float* b,
                           std::size_t b_stride, float* out, std::size_t inner) noexcept {
    // clang-format off
#define TINYATTN_REST_OF_2(DO)
#define TINYATTN_REST_OF_4(DO) DO("q2", "q3", "32", "48")
#define TINYATTN_REST_OF_6(DO) TINYATTN_REST_OF_4(DO) DO("q4", "q5", "64", "80")
#define TINYATTN_LOAD(s, t, at, next)                                                             \
  "vldrw.u32 " s ", [%[x], #" at "]\n vldrw.u32 " t ", [%[x], #" next "]\n"
#define TINYATTN_STORE(s, t, at, next)                                                            \
  "vstrw.32 " s ", [%[out], #" at "]\n vstrw.32 " t ", [%[out], #" next "]\n"
#define TINYATTN_B(q, at) "vldrw.u32 " q ", [%[b], #" at "]\n"
#define TINYATTN_ADD(s, t, x, then, at_last)                                                      \
  "vfma.f32 " s ", q6, %[" x "]\n" then "vfma.f32 " t ", q7, %[" x "]\n" at_last
#define TINYATTN_STEP_OF_2(x, row, next) TINYATTN_ADD("q0", "q1", x, row, next)
#define TINYATTN_STEP_OF_4(x, row, next)                                                          \
  TINYATTN_ADD("q0", "q1", x, TINYATTN_B("q6", "32"), TINYATTN_B("q7", "48"))                     \
  TINYATTN_ADD("q2", "q3", x, row, next)
#define TINYATTN_STEP_OF_6(x, row, next)                                                          \
  TINYATTN_ADD("q0", "q1", x, TINYATTN_B("q6", "32"), TINYATTN_B("q7", "48"))                     \
  TINYATTN_ADD("q2", "q3", x, TINYATTN_B("q6", "64"), TINYATTN_B("q7", "80"))                     \
  TINYATTN_ADD("q4", "q5", x, row, next)
#define TINYATTN_ROW "add %[b], %[step]\n" TINYATTN_B("q6", "0")
#define TINYATTN_ROW_BY(bytes) "vldrw.u32 q6, [%[b], #" bytes "]!\n"
#define TINYATTN_NEXT(y) "ldr %[" y "], [%[a]], #4\n" TINYATTN_B("q7", "16")
#define TINYATTN_LOOP(label, STEP, row)                                                           \
  label ": " STEP("x", row, TINYATTN_NEXT("y")) STEP("y", row, TINYATTN_NEXT("x"))                \
  "le lr, " label "b\n"
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_LOOPS(STEP) TINYATTN_LOOP("2", STEP, TINYATTN_ROW)
#else
#define TINYATTN_LOOPS(STEP)                                                                      \
  "cmp %[step], #256\n beq 4f\n cmp %[step], #128\n beq 3f\n"                                     \
  TINYATTN_LOOP("2", STEP, TINYATTN_ROW) "b 5f\n"                                                 \
  TINYATTN_LOOP("3", STEP, TINYATTN_ROW_BY("128")) "b 5f\n"                                       \
  TINYATTN_LOOP("4", STEP, TINYATTN_ROW_BY("256"))
#endif
#define TINYATTN_TILE(REST, STEP)                                                                 \
  asm volatile(TINYATTN_LOAD("q0", "q1", "0", "16") REST(TINYATTN_LOAD)                           \
               "subs lr, %[y], #1\n blo 6f\n"                                                     \
               TINYATTN_B("q6", "0") TINYATTN_NEXT("x")                                           \
               "lsrs lr, lr, #1\n bcc 1f\n" STEP("x", TINYATTN_ROW, TINYATTN_NEXT("x"))           \
               "1: wls lr, lr, 5f\n" TINYATTN_LOOPS(STEP)                                         \
               "5: " STEP("x", "", "")                                                            \
               "6: " TINYATTN_STORE("q0", "q1", "0", "16") REST(TINYATTN_STORE)                   \
               : [a] "+&r"(a), [b] "+&r"(b), [x] "+&r"(initial), [y] "+&r"(inner)                 \
               : [step] "r"(b_stride * sizeof(float)), [out] "r"(out)                             \
               : "memory", "cc", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7")
    // clang-format on
    if constexpr (Vectors == 2)
      TINYATTN_TILE(TINYATTN_REST_OF_2, TINYATTN_STEP_OF_2);
    else if constexpr (Vectors == 4)
      TINYATTN_TILE(TINYATTN_REST_OF_4, TINYATTN_STEP_OF_4);
    else
      TINYATTN_TILE(TINYATTN_REST_OF_6, TINYATTN_STEP_OF_6);
#undef TINYATTN_TILE
#undef TINYATTN_LOOPS
#undef TINYATTN_LOOP
#undef TINYATTN_NEXT
#undef TINYATTN_ROW_BY
#undef TINYATTN_ROW
#undef TINYATTN_STEP_OF_6
#undef TINYATTN_STEP_OF_4
#undef TINYATTN_STEP_OF_2
#undef TINYATTN_ADD
#undef TINYATTN_B
#undef TINYATTN_STORE
#undef TINYATTN_LOAD
#undef TINYATTN_REST_OF_6
#undef TINYATTN_REST_OF_4
#undef TINYATTN_REST_OF_2
  }

  // Twelve columns of a transposed product of one row. Sums are in q0 to q2. Three vectors hold the
  // addresses of the columns' next terms, and each load increments its own. Loads are as in
  // row_tile; two steps exchange q6 and q7.
  static constexpr std::size_t dot_products = 12;
  TINYATTN_ALWAYS_INLINE static void dots(const float* initial, const float* a, const float* b,
                                          std::size_t b_stride, float* out,
                                          std::size_t inner) noexcept {
    const std::uint32_t step = b_stride * sizeof(float);
    uint32x4_t b0 = vaddq_n_u32(vmulq_n_u32(vidupq_n_u32(0, 1), step),
                                reinterpret_cast<std::uint32_t>(b) - sizeof(float));
    uint32x4_t b1 = vaddq_n_u32(b0, 4 * step), b2 = vaddq_n_u32(b1, 4 * step);
    // clang-format off
#define TINYATTN_LOAD(q, b) "vldrw.u32 " q ", [%q[" b "], #4]!\n"
#define TINYATTN_STEP(q, r, x, next0, next1)                                                      \
  "vfma.f32 q0, " q ", %[" x "]\n" TINYATTN_LOAD(q, "b2")                                         \
  "vfma.f32 q1, " r ", %[" x "]\n" next0 "vfma.f32 q2, " q ", %[" x "]\n" next1
#define TINYATTN_NEXT(q, y) TINYATTN_LOAD(q, "b1") "ldr %[" y "], [%[a]], #4\n"
#define TINYATTN_FIRST TINYATTN_LOAD("q6", "b0") TINYATTN_NEXT("q7", "x")
    asm volatile("vldrw.u32 q0, [%[x]]\n vldrw.u32 q1, [%[x], #16]\n vldrw.u32 q2, [%[x], #32]\n"
                 "subs lr, %[y], #1\n blo 4f\n" TINYATTN_FIRST
                 "lsrs lr, lr, #1\n bcc 1f\n" TINYATTN_STEP("q6", "q7", "x", "", TINYATTN_FIRST)
                 "1: wls lr, lr, 3f\n 2: "
                 TINYATTN_STEP("q6", "q7", "x", TINYATTN_LOAD("q7", "b0"), TINYATTN_NEXT("q6", "y"))
                 TINYATTN_STEP("q7", "q6", "y", TINYATTN_LOAD("q6", "b0"), TINYATTN_NEXT("q7", "x"))
                 "le lr, 2b\n"
                 "3: " TINYATTN_STEP("q6", "q7", "x", "", "")
                 "4: vstrw.32 q0, [%[out]]\n vstrw.32 q1, [%[out], #16]\n"
                 "vstrw.32 q2, [%[out], #32]\n"
                 : [a] "+&r"(a), [x] "+&r"(initial), [y] "+&r"(inner), [b0] "+&w"(b0),
                   [b1] "+&w"(b1), [b2] "+&w"(b2)
                 : [out] "r"(out)
                 : "memory", "cc", "lr", "q0", "q1", "q2", "q6", "q7");
    // clang-format on
#undef TINYATTN_FIRST
#undef TINYATTN_NEXT
#undef TINYATTN_STEP
#undef TINYATTN_LOAD
  }
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
