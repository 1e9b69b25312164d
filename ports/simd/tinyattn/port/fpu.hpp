// SPDX-License-Identifier: MIT
//
// One lane on a core that fuses multiply and add in hardware: Cortex-M4F, M7, M33, or x86 with FMA.
#pragma once

#include "tinyattn/port/rounded.hpp"
#include "tinyattn/port/scalar.hpp"

#include <cstddef>

#if !defined(__ARM_FEATURE_FMA) && !defined(__FMA__) && !defined(__FP_FAST_FMAF) && !defined(__riscv_flen)
#error "the port `fpu` needs a fused multiply-add: -mfpu=fpv4-sp-d16 -mfloat-abi=hard for a Cortex-M4F, -mfma on x86"
#endif

namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {

#if defined(__arm__)
namespace detail {

// Six neighbouring registers, which one instruction loads or stores; compilers do not form it. Those that are named here go to
// the rows of a tile, and the last to a row that it is multiplied with.
template <std::size_t Row>
struct neighbours;

#define TINYATTN_NEIGHBOURS(Row, R0, R1, R2, R3, R4, R5)                            \
  template <>                                                                       \
  struct neighbours<Row> {                                                          \
    TINYATTN_ALWAYS_INLINE static void load(const float* from, float (&row)[6]) {   \
      register float r0 asm(#R0);                                                   \
      register float r1 asm(#R1);                                                   \
      register float r2 asm(#R2);                                                   \
      register float r3 asm(#R3);                                                   \
      register float r4 asm(#R4);                                                   \
      register float r5 asm(#R5);                                                   \
      asm("vldm %6, {" #R0 "-" #R5 "}"                                              \
          : "=t"(r0), "=t"(r1), "=t"(r2), "=t"(r3), "=t"(r4), "=t"(r5)              \
          : "r"(from), "m"(*reinterpret_cast<const float(*)[6]>(from)));            \
      row[0] = r0, row[1] = r1, row[2] = r2, row[3] = r3, row[4] = r4, row[5] = r5; \
    }                                                                               \
    TINYATTN_ALWAYS_INLINE static void store(const float (&row)[6], float* to) {    \
      register float r0 asm(#R0) = row[0];                                          \
      register float r1 asm(#R1) = row[1];                                          \
      register float r2 asm(#R2) = row[2];                                          \
      register float r3 asm(#R3) = row[3];                                          \
      register float r4 asm(#R4) = row[4];                                          \
      register float r5 asm(#R5) = row[5];                                          \
      asm("vstm %1, {" #R0 "-" #R5 "}"                                              \
          : "=m"(*reinterpret_cast<float(*)[6]>(to))                                \
          : "r"(to), "t"(r0), "t"(r1), "t"(r2), "t"(r3), "t"(r4), "t"(r5));         \
    }                                                                               \
  }
TINYATTN_NEIGHBOURS(0, s0, s1, s2, s3, s4, s5);
TINYATTN_NEIGHBOURS(1, s6, s7, s8, s9, s10, s11);
TINYATTN_NEIGHBOURS(2, s12, s13, s14, s15, s16, s17);
TINYATTN_NEIGHBOURS(3, s18, s19, s20, s21, s22, s23);
TINYATTN_NEIGHBOURS(4, s26, s27, s28, s29, s30, s31);
#undef TINYATTN_NEIGHBOURS

}  // namespace detail
#endif

struct fpu : scalar {
  using one_lane = fpu;
  static constexpr std::size_t registers = 32;
  static constexpr std::size_t tile_vectors = 6;
#if !defined(__OPTIMIZE_SIZE__)
  static constexpr std::size_t tile_steps = 2;  // four percent fewer instructions for 200 bytes
#endif

#if defined(__arm__)
  using scalar::load_row;
  using scalar::store_row;
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, float (&row)[tile_vectors]) noexcept {
    detail::neighbours<4>::load(from, row);
  }
  TINYATTN_ALWAYS_INLINE static void store_row(const float (&row)[tile_vectors], float* to) noexcept {
    detail::neighbours<4>::store(row, to);
  }

  // *from++, where it stands: what compilers would load ahead of its turn takes a register from the tile.
  TINYATTN_ALWAYS_INLINE static float load_next(const float*& from) noexcept {
    register float next asm("s24");
    asm volatile("vldm %0!, {s24}" : "+r"(from), "=t"(next) : : "memory");
    return next;
  }

  // Row number Row of a tile, from 0 to 3.
  template <std::size_t Row>
  TINYATTN_ALWAYS_INLINE static void load_tile_row(const float* from, float (&row)[tile_vectors]) noexcept {
    detail::neighbours<Row>::load(from, row);
  }
  template <std::size_t Row>
  TINYATTN_ALWAYS_INLINE static void store_tile_row(const float (&row)[tile_vectors], float* to) noexcept {
    detail::neighbours<Row>::store(row, to);
  }
#endif

  TINYATTN_ALWAYS_INLINE static float fma(float a, float b, float c) noexcept {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);  // for Clang the other may be a call, which sets errno
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
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept { return detail::rounded(a) + detail::rounded(b); }
#endif
#if defined(__ARM_FEATURE_NUMERIC_MAXMIN) || (__ARM_ARCH_PROFILE == 'M' && (__ARM_ARCH >= 8 || (__ARM_FP & 8)))
  // Cortex-M7 and later.
  TINYATTN_ALWAYS_INLINE static float max(float a, float b) noexcept { return __builtin_fmaxf(a, b); }
#endif
  TINYATTN_ALWAYS_INLINE static float mul(float a, float b) noexcept { return detail::rounded(a * b); }
};

static_assert(contract<fpu>);

}  // namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE
