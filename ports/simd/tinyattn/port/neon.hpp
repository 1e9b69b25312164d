// SPDX-License-Identifier: MIT
//
// NEON: four lanes. The two architectures differ in how many registers there are and in what one instruction can
// load; and AArch64 multiplies with a lane of a register, where ARMv7 spreads each factor over one. ARMv7 flushes what is below 2^-126.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__ARM_NEON) || !defined(__ARM_FEATURE_FMA)
#error "the port `neon` needs NEON and a fused multiply-add: compile for AArch64, or with -mfpu=neon-vfpv4"
#else

#include "tinyattn/port/fpu.hpp"

#include <arm_neon.h>

#include <cstddef>

namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {

struct neon {
  using vec = float32x4_t;
  using broadcasted = float32x4_t;
  using one_lane = fpu;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t block_rows = 4;
  static constexpr std::size_t query_rows = 4;
  static constexpr bool shares_code = false;
#if defined(__aarch64__)
  static constexpr std::size_t registers = 24;  // of 32: eight hold factors of four steps, and a row beside the next
  static constexpr std::size_t tile_vectors = 4;
#else
  static constexpr std::size_t registers = 16;
  static constexpr bool steps_pointers = true;
  static constexpr std::size_t tile_vectors = 2;
#endif

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept { return vld1q_f32(from); }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float rest = 0.0f) noexcept {
    if (n == lanes) return load(from);
    vec v = fill(rest);
    if (n == 1) v = vld1q_lane_f32(from, v, 0);
    if (n >= 2) v = vcombine_f32(vld1_f32(from), vget_high_f32(v));
    if (n == 3) v = vld1q_lane_f32(from + 2, v, 2);
    return v;
  }
  template <std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, vec (&row)[Vectors]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = load(from + v * lanes);
  }
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, vec (&row)[tile_vectors]) noexcept { load_whole_row(from, row); }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { vst1q_f32(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    if (n == lanes) return store(to, v);
    if (n == 1) vst1q_lane_f32(to, v, 0);
    if (n >= 2) vst1_f32(to, vget_low_f32(v));
    if (n == 3) vst1q_lane_f32(to + 2, v, 2);
  }
  TINYATTN_ALWAYS_INLINE static vec broadcast(float x) noexcept { return vdupq_n_f32(x); }
  TINYATTN_ALWAYS_INLINE static vec fill(float x) noexcept { return vdupq_n_f32(x); }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return vgetq_lane_f32(v, 0); }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec swapped(vec v) noexcept {
    return By == 1 ? vrev64q_f32(v) : vextq_f32(v, v, 2);
  }
  TINYATTN_ALWAYS_INLINE static void zip(vec a, vec b, vec& low, vec& high) noexcept {
    const float32x4x2_t both = vzipq_f32(a, b);
    low = both.val[0];
    high = both.val[1];
  }

  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept { return vfmaq_f32(c, a, b); }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(vmulq_f32(a, b)); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept { return vaddq_f32(rounded(a), rounded(b)); }
  TINYATTN_ALWAYS_INLINE static vec max(vec a, vec b) noexcept { return vmaxq_f32(a, b); }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return vbslq_f32(vcltq_f32(a, b), less, otherwise);
  }
  TINYATTN_ALWAYS_INLINE static vec power_of_two(vec shifted) noexcept {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23));
  }

#if defined(__aarch64__)
  using factors = float32x4_t;
  static constexpr std::size_t factor_steps = 4;
  template <std::size_t Step>
  struct factor_in_lane {
    factors several;
  };

  TINYATTN_ALWAYS_INLINE static factors load_factors(const float* from) noexcept { return vld1q_f32(from); }
  template <std::size_t Step>
  TINYATTN_ALWAYS_INLINE static factor_in_lane<Step> lane(factors several) noexcept {
    return {several};
  }
  template <std::size_t Step>
  TINYATTN_ALWAYS_INLINE static vec fma(factor_in_lane<Step> a, vec b, vec c) noexcept {
    return vfmaq_laneq_f32(c, b, a.several, Step);
  }
#else
  // One instruction, if the compiler does not know that the next row of a lies as far from this as the last.
  TINYATTN_ALWAYS_INLINE static float load_next(const float*& from) noexcept {
    asm("" : "+r"(from));
    return *from++;
  }
#endif

 private:
  // A row of a full tile in one instruction.
#if defined(__aarch64__)
  TINYATTN_ALWAYS_INLINE static void load_whole_row(const float* from, vec (&row)[4]) noexcept {
    const float32x4x4_t four = vld1q_f32_x4(from);
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < 4; ++v) row[v] = four.val[v];
  }
#else
  // GCC 12 lacks vld1q_f32_x2 here. It wants neighbouring registers.
  TINYATTN_ALWAYS_INLINE static void load_whole_row(const float* from, vec (&row)[2]) noexcept {
    register vec first asm("q8");
    register vec second asm("q9");
    asm("vld1.32 {d16-d19}, [%2]" : "=w"(first), "=w"(second) : "r"(from), "m"(*reinterpret_cast<const float(*)[8]>(from)));
    row[0] = first;
    row[1] = second;
  }
#endif

  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+w"(v));
    return v;
  }
};

static_assert(contract<neon>);
#if defined(__aarch64__)
static_assert(factors_by_lane<neon>);
#endif

}  // namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE

#endif
