// SPDX-License-Identifier: MIT
//
// Helium, the vector extension of Cortex-M: four lanes, eight registers, and factors that fma takes from a core register.
// What is below 2^-126 is flushed.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__ARM_FEATURE_MVE) || !(__ARM_FEATURE_MVE & 2)
#error "the port `helium` needs Helium with float: compile with -mcpu=cortex-m55 -mfloat-abi=hard"
#else

#include "tinyattn/port/fpu.hpp"

#include <arm_mve.h>

#include <cstddef>
#include <cstdint>

namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {

struct helium {
  using vec = float32x4_t;
  using broadcasted = float;
  using one_lane = fpu;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t registers = 8;
  static constexpr std::size_t tile_vectors = 2;
  static constexpr std::size_t tile_steps = 2;
  static constexpr bool steps_pointers = true;
  static constexpr std::size_t block_rows = 3;
  static constexpr std::size_t query_rows = 3;
  static constexpr bool shares_code = true;
  static constexpr bool steps_rows = true;

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept { return *reinterpret_cast<const unaligned*>(from); }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float rest = 0.0f) noexcept {
    order_memory();
    const vec v = vld1q_z_f32(from, first_lanes(n));
    order_memory();
    return rest == 0.0f ? v : vpselq_f32(v, fill(rest), first_lanes(n));
  }
  template <std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, vec (&row)[Vectors]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = load(from + v * lanes);
  }
#if !defined(__clang__)
  // GCC 12 would load a row anywhere and move the sums of a tile about, or take three instructions for two addresses.
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, vec (&row)[tile_vectors]) noexcept {
    register vec first asm("q6");
    register vec second asm("q7");
    asm("vldrw.u32 %q0, %E1" : "=w"(first) : "Ux"(*reinterpret_cast<const unaligned*>(from)));
    asm("vldrw.u32 %q0, %E1" : "=w"(second) : "Ux"(*reinterpret_cast<const unaligned*>(from + lanes)));
    row[0] = first;
    row[1] = second;
  }
  TINYATTN_ALWAYS_INLINE static void store_row(const vec (&row)[tile_vectors], float* to) noexcept {
    asm volatile("vstrw.32 %q1, [%0]\n\tvstrw.32 %q2, [%0, #16]" : : "r"(to), "w"(row[0]), "w"(row[1]) : "memory");
  }
  template <std::size_t Stride>
  requires(Stride <= 127) TINYATTN_ALWAYS_INLINE static void load_next_row(const float*& from, vec (&row)[tile_vectors]) noexcept {
    register vec first asm("q6");
    register vec second asm("q7");
    asm("vldrw.u32 %q1, [%2, #16]\n\tvldrw.u32 %q0, [%2], %3"
        : "=w"(first), "=w"(second), "+r"(from)
        : "i"(Stride * sizeof(float)), "m"(*reinterpret_cast<const float(*)[tile_vectors * lanes]>(from)));
    row[0] = first;
    row[1] = second;
  }
#endif
  // Clang finds the instruction for both, and ends no loop in one instruction if there is assembly in it.
  TINYATTN_ALWAYS_INLINE static void load_next_two(const float*& from, float (&two)[2]) noexcept {
#if defined(__clang__)
    two[0] = *from++;
    two[1] = *from++;
#else
    asm("ldrd %0, %1, [%2], #8" : "=r"(two[0]), "=r"(two[1]), "+r"(from) : "m"(*reinterpret_cast<const float(*)[2]>(from)));
#endif
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { *reinterpret_cast<unaligned*>(to) = v; }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    order_memory();
    vst1q_p_f32(to, v, first_lanes(n));
    order_memory();
  }
  // to[q * step] = v[q].
  TINYATTN_ALWAYS_INLINE static void scatter(float* to, std::size_t step, vec v) noexcept {
    order_memory();
    vstrwq_scatter_shifted_offset_f32(to, vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<std::uint32_t>(step)), v);
    order_memory();
  }
  TINYATTN_ALWAYS_INLINE static float broadcast(float x) noexcept { return x; }
  TINYATTN_ALWAYS_INLINE static vec fill(float x) noexcept { return vdupq_n_f32(x); }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return vgetq_lane_f32(v, 0); }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec swapped(vec v) noexcept {
    if constexpr (By == 1) return vrev64q_f32(v);
    vec halves;
    asm("vmov.f64 %e0, %f1\n\tvmov.f64 %f0, %e1" : "=&w"(halves) : "w"(v));  // GCC 12 would go through memory
    return halves;
  }

  TINYATTN_ALWAYS_INLINE static vec fma(float a, vec b, vec c) noexcept { return vfmaq_n_f32(c, b, a); }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept { return vfmaq_f32(c, a, b); }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, float c) noexcept { return vfmasq_n_f32(a, b, c); }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, float b) noexcept { return rounded(vmulq_n_f32(a, b)); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, float b) noexcept {
#if defined(__clang__)
    return vaddq_n_f32(rounded(a), b);
#else
    vec sum;
    asm("vadd.f32 %q0, %q1, %2" : "=w"(sum) : "w"(a), "r"(b));  // a barrier would copy what is needed after it
    return sum;
#endif
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(vmulq_f32(a, b)); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept { return vaddq_f32(rounded(a), rounded(b)); }
  TINYATTN_ALWAYS_INLINE static vec max(vec a, vec b) noexcept { return vmaxnmq_f32(a, b); }
  // "Less" holds for a NaN in this instruction set, "greater" does not; Clang 19 swaps them nevertheless where it sees a number in all
  // lanes, but not behind a barrier.
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
#if defined(__clang__)
    return vpselq_f32(less, otherwise, vcmpgtq_f32(rounded(b), a));
#else
    vec selected;
    mve_pred16_t is_less;  // which GCC 12 would move to a core register and back
    asm("vcmp.f32 gt, %q3, %q2\n\tvpsel %q0, %q4, %q5" : "=w"(selected), "=&Up"(is_less) : "w"(a), "w"(b), "w"(less), "w"(otherwise));
    return selected;
#endif
  }
  TINYATTN_ALWAYS_INLINE static vec power_of_two(vec shifted) noexcept {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23));
  }

 private:
  // GCC 12 is wrong about the intrinsics that load and store. It believes that a load reads one float, and moves what is stored to
  // the other three behind it; and that a predicated store writes all lanes, and deletes what was stored to the others before. So whole
  // vectors do without, and parts of one stand between barriers that no access to memory crosses.
  using unaligned [[gnu::aligned(4), gnu::may_alias]] = float32x4_t;
  TINYATTN_ALWAYS_INLINE static void order_memory() noexcept { asm volatile("" : : : "memory"); }
  TINYATTN_ALWAYS_INLINE static mve_pred16_t first_lanes(std::size_t n) noexcept { return vctp32q(static_cast<std::uint32_t>(n)); }

  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+w"(v));
    return v;
  }
};

static_assert(contract<helium>);

}  // namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE

#endif
