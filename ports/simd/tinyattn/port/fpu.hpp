// SPDX-License-Identifier: MIT
//
// One lane on a core that fuses multiply and add in hardware: Cortex-M4F, M7, M33, or x86 with FMA.
#pragma once

#include "tinyattn/port/rounded.hpp"
#include "tinyattn/port/scalar.hpp"

#include <cstddef>

#if !defined(__ARM_FEATURE_FMA) && !defined(__FMA__) && !defined(__FP_FAST_FMAF) && \
    !defined(__riscv_flen)
#error "the port `fpu` needs a fused multiply-add: -mfpu=fpv4-sp-d16, or -mfma on x86"
#endif

namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {

struct fpu : scalar {
  using one_lane = fpu;
  static constexpr std::size_t registers = 32;
  static constexpr std::size_t tile_vectors = 6;

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

#if defined(__OPTIMIZE__)  // else registers do not suffice
  // Four rows of six sums, with a row of b in one instruction: compilers form no vldm, and move
  // factors and sums about. Sums stand in s0 to s23, a factor in s24, the row of b in s26 to s31.
  template <std::size_t Rows, std::size_t Vectors>
  requires(Rows == 4 && Vectors == 6) TINYATTN_ALWAYS_INLINE
      static void tile(const float* start, const float* a, std::size_t a_stride, const float* b,
                       std::size_t b_stride, float* out, std::size_t out_stride,
                       std::size_t inner) noexcept {
    const float *a1 = a + a_stride, *a2 = a1 + a_stride, *a3 = a2 + a_stride;
    std::size_t step;
    const std::size_t b_step = b_stride * sizeof(float);
    const float* const from = start;
    float* const to = out;
    const std::size_t out_step = out_stride * sizeof(float);
    // clang-format off
#define TINYATTN_ADD_ROW(a, s0, s1, s2, s3, s4, s5)                    \
  "vldm " a "!, {s24}\n"                                               \
  "vfma.f32 " s0 ", s24, s26\n vfma.f32 " s1 ", s24, s27\n"            \
  "vfma.f32 " s2 ", s24, s28\n vfma.f32 " s3 ", s24, s29\n"            \
  "vfma.f32 " s4 ", s24, s30\n vfma.f32 " s5 ", s24, s31\n"
#define TINYATTN_ADD_ROWS                                              \
  "vldm %[b], {s26-s31}\n add %[b], %[step]\n"                         \
  TINYATTN_ADD_ROW("%[a0]", "s0", "s1", "s2", "s3", "s4", "s5")        \
  TINYATTN_ADD_ROW("%[a1]", "s6", "s7", "s8", "s9", "s10", "s11")      \
  TINYATTN_ADD_ROW("%[a2]", "s12", "s13", "s14", "s15", "s16", "s17")  \
  TINYATTN_ADD_ROW("%[a3]", "s18", "s19", "s20", "s21", "s22", "s23")
    asm volatile(
        "ldr %[step], %[start]\n vldm %[step], {s0-s5}\n vldm %[step], {s6-s11}\n"
        "vldm %[step], {s12-s17}\n vldm %[step], {s18-s23}\n ldr %[step], %[b_step]\n"
#if defined(__OPTIMIZE_SIZE__)
        "cbz %[inner], 2f\n"
        "1: " TINYATTN_ADD_ROWS
#else
        // Two steps at a time; the second first, if they are odd.
        "adds %[inner], #1\n lsrs %[inner], #1\n beq 2f\n bcc 3f\n"
        "1: " TINYATTN_ADD_ROWS
        "3: " TINYATTN_ADD_ROWS
#endif
        "subs %[inner], #1\n bne 1b\n"
        "2: ldr %[inner], %[out]\n ldr %[step], %[out_step]\n"
        "vstm %[inner], {s0-s5}\n add %[inner], %[step]\n"
        "vstm %[inner], {s6-s11}\n add %[inner], %[step]\n"
        "vstm %[inner], {s12-s17}\n add %[inner], %[step]\n"
        "vstm %[inner], {s18-s23}\n"
        : [a0] "+&r"(a), [a1] "+&r"(a1), [a2] "+&r"(a2), [a3] "+&r"(a3), [b] "+&r"(b),
          [inner] "+&l"(inner), [step] "=&r"(step)
        : [start] "m"(from), [b_step] "m"(b_step), [out] "m"(to), [out_step] "m"(out_step)
        : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
          "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24",
          "s26", "s27", "s28", "s29", "s30", "s31");
    // clang-format on
#undef TINYATTN_ADD_ROW
#undef TINYATTN_ADD_ROWS
  }

  // One row of eight or sixteen sums. Sums stand in s0 to s15, the factors of a turn in s16 to
  // s23, eight of a row of b in s24 to s31.
  static constexpr std::size_t row_vectors = 16;
  template <std::size_t Vectors>
  requires(Vectors == 8 || Vectors == 16) TINYATTN_ALWAYS_INLINE
      static void row_tile(const float* start, const float* a, const float* b, std::size_t b_stride,
                           float* out, std::size_t inner) noexcept {
    const std::size_t step = (b_stride - (Vectors - 8)) * sizeof(float);
    // clang-format off
#if defined(__OPTIMIZE_SIZE__)
    std::size_t turns = inner / 4, left = inner % 4;
#define TINYATTN_TURN(STEP) "1: vldm %[a]!, {s16-s19}\n" STEP(16) STEP(17) STEP(18) STEP(19)
#else
    std::size_t turns = inner / 8, left = inner % 8;
#define TINYATTN_TURN(STEP)                                                                       \
  "1: vldm %[a]!, {s16-s23}\n" STEP(16) STEP(17) STEP(18) STEP(19) STEP(20) STEP(21) STEP(22)     \
  STEP(23)
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
  asm volatile("vldm %[start], {" sums "}\n cmp %[turns], #0\n beq 2f\n"                          \
               TINYATTN_TURN(STEP) "subs %[turns], #1\n bne 1b\n"                                 \
               "2: cmp %[left], #0\n beq 4f\n"                                                    \
               "3: vldm %[a]!, {s16}\n" STEP(16) "subs %[left], #1\n bne 3b\n"                    \
               "4: vstm %[out], {" sums "}\n"                                                     \
               : [a] "+&r"(a), [b] "+&r"(b), [turns] "+&l"(turns), [left] "+&l"(left)             \
               : [start] "r"(start), [step] "r"(step), [out] "r"(out)                             \
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
#undef TINYATTN_TURN
  }

  // Eight columns of a transposed product of one row: sums stand in s0 to s7, eight factors in s8
  // to s15, as many terms of two columns in s16 to s23 and s24 to s31.
  static constexpr std::size_t dot_products = 8;
  TINYATTN_ALWAYS_INLINE static void dots(const float* start, const float* a, const float* b,
                                          std::size_t b_stride, float* out,
                                          std::size_t inner) noexcept {
    const float *b1 = b + b_stride, *b2 = b1 + b_stride, *b3 = b2 + b_stride, *b4 = b3 + b_stride,
                *b5 = b4 + b_stride, *b6 = b5 + b_stride, *b7 = b6 + b_stride;
    float* const to = out;
    std::size_t turns = inner / 8;
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
    asm volatile("vldm %[start], {s0-s7}\n cmp %[turns], #0\n beq 2f\n"
                 "1: vldm %[a]!, {s8-s15}\n" TINYATTN_FOR_8(TINYATTN_ADD_COLUMNS)
                 "subs %[turns], #1\n bne 1b\n"
                 "2: ldr %[turns], %[rest]\n cmp %[turns], #0\n beq 4f\n"
                 "3: vldm %[a]!, {s8}\n" TINYATTN_FOR_8(TINYATTN_ADD_TERMS)
                 "subs %[turns], #1\n bne 3b\n"
                 "4: ldr %[turns], %[to]\n vstm %[turns], {s0-s7}\n"
                 : [a] "+&r"(a), [b0] "+&r"(b), [b1] "+&r"(b1), [b2] "+&r"(b2), [b3] "+&r"(b3),
                   [b4] "+&r"(b4), [b5] "+&r"(b5), [b6] "+&r"(b6), [b7] "+&r"(b7),
                   [turns] "+&l"(turns)
                 : [start] "r"(start), [rest] "m"(rest), [to] "m"(to)
                 : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
                   "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20",
                   "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31");
    // clang-format on
#undef TINYATTN_FOR_8
#undef TINYATTN_ADD_TERMS
#undef TINYATTN_ADD_COLUMNS
#undef TINYATTN_ADD_BOTH
  }

  // The sum of a row, or of its squares: the sixteen lanes stand in s0 to s15, sixteen elements in
  // s16 to s31, and in s16 each of those left.
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
               "1: vldm %[row]!, {s16-s31}\n" TINYATTN_FOR_15(ADD) ADD(15, 31)                    \
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
#endif

  TINYATTN_ALWAYS_INLINE static float fma(float a, float b, float c) noexcept {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b,
                                     c);  // for Clang the other may be a call, which sets errno
#else
    return __builtin_fmaf(a, b, c);
#endif
  }
#if defined(__arm__)
  // Barriers before an addition would copy what is needed after it.
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept {
    float sum;
    asm("vadd.f32 %0, %1, %2" : "=t"(sum) : "t"(a), "t"(b));
    return sum;
  }
#else
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept {
    return detail::rounded(a) + detail::rounded(b);
  }
#endif
#if defined(__ARM_FEATURE_NUMERIC_MAXMIN) || \
    (__ARM_ARCH_PROFILE == 'M' && (__ARM_ARCH >= 8 || (__ARM_FP & 8)))
  // Cortex-M7 and later.
  TINYATTN_ALWAYS_INLINE static float larger(float a, float b) noexcept {
    return __builtin_fmaxf(a, b);
  }
#endif
  TINYATTN_ALWAYS_INLINE static float mul(float a, float b) noexcept {
    return detail::rounded(a * b);
  }
  TINYATTN_ALWAYS_INLINE static float negative_magnitude(float x) noexcept {
    return -__builtin_fabsf(x);
  }
};

static_assert(contract<fpu>);

}  // namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE
