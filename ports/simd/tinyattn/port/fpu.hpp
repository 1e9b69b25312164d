// SPDX-License-Identifier: MIT
//
// One lane on a core that fuses multiply and add in hardware: Cortex-M4F, M7, M33, or x86 with FMA.
#pragma once

#include "tinyattn/port/rounded.hpp"
#include "tinyattn/port/scalar.hpp"

#if !defined(__ARM_FEATURE_FMA) && !defined(__FMA__) && !defined(__FP_FAST_FMAF) && !defined(__riscv_flen)
#error "the port `fpu` needs a fused multiply-add: -mfpu=fpv4-sp-d16 -mfloat-abi=hard for a Cortex-M4F, -mfma on x86"
#endif

namespace tinyattn::port {

struct fpu : scalar {
  using one_lane = fpu;
  static constexpr std::size_t registers = 32;
  static constexpr std::size_t tile_vectors = 6;

#if defined(__arm__)
  using scalar::load_row;

  // A row of a full tile in one instruction, which compilers do not form: it wants neighbouring registers.
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, float (&row)[tile_vectors]) noexcept {
    register float r0 asm("s26");
    register float r1 asm("s27");
    register float r2 asm("s28");
    register float r3 asm("s29");
    register float r4 asm("s30");
    register float r5 asm("s31");
    asm("vldm %6, {s26-s31}"
        : "=t"(r0), "=t"(r1), "=t"(r2), "=t"(r3), "=t"(r4), "=t"(r5)
        : "r"(from), "m"(*reinterpret_cast<const float(*)[tile_vectors]>(from)));
    row[0] = r0;
    row[1] = r1;
    row[2] = r2;
    row[3] = r3;
    row[4] = r4;
    row[5] = r5;
  }

  using scalar::store_row;

  TINYATTN_ALWAYS_INLINE static void store_row(const float (&row)[tile_vectors], float* to) noexcept {
    register float r0 asm("s26") = row[0];
    register float r1 asm("s27") = row[1];
    register float r2 asm("s28") = row[2];
    register float r3 asm("s29") = row[3];
    register float r4 asm("s30") = row[4];
    register float r5 asm("s31") = row[5];
    asm("vstm %1, {s26-s31}"
        : "=m"(*reinterpret_cast<float(*)[tile_vectors]>(to))
        : "r"(to), "t"(r0), "t"(r1), "t"(r2), "t"(r3), "t"(r4), "t"(r5));
  }
#endif

  TINYATTN_ALWAYS_INLINE static float fma(float a, float b, float c) noexcept { return __builtin_fmaf(a, b, c); }
#if defined(__arm__)
  // Barriers before an addition would copy what is needed after it.
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept {
    float sum;
    asm("vadd.f32 %0, %1, %2" : "=t"(sum) : "t"(a), "t"(b));
    return sum;
  }
  // One instruction, which compilers make two of: they prefer an addend within an instruction.
  TINYATTN_ALWAYS_INLINE static float power_of_two(float biased) noexcept {
    std::uint32_t power;
    asm("add %0, %1, %2, lsl #23" : "=r"(power) : "r"(0x3f800000u), "r"(std::bit_cast<std::uint32_t>(biased)));
    return std::bit_cast<float>(power);
  }
#else
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept { return detail::rounded(a) + detail::rounded(b); }
#endif
  TINYATTN_ALWAYS_INLINE static float mul(float a, float b) noexcept { return detail::rounded(a * b); }
};

static_assert(contract<fpu>);

}  // namespace tinyattn::port
