// SPDX-License-Identifier: MIT
//
// One lane on a core that fuses multiply and add in hardware: Cortex-M4F, M7, M33, or x86 with FMA.
#pragma once

#include "tinyattn/port/fpu_rows.hpp"
#include "tinyattn/port/rounded.hpp"
#include "tinyattn/port/scalar.hpp"

#include <cstddef>

#if !defined(__ARM_FEATURE_FMA) && !defined(__FMA__) && !defined(__FP_FAST_FMAF) && \
    !defined(__riscv_flen)
#error "the port `fpu` needs a fused multiply-add: -mfpu=fpv4-sp-d16, or -mfma on x86"
#endif

namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {

struct fpu : scalar, fpu_rows {
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
  // Cortex-M7 and later.
  TINYATTN_ALWAYS_INLINE static float larger(float a, float b) noexcept {
    return __builtin_fmaxf(a, b);
  }
#endif
  TINYATTN_ALWAYS_INLINE static float mul(float a, float b) noexcept {
    return detail::rounded(a * b);
  }
};

static_assert(contract<fpu>);

}  // namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE
