// SPDX-License-Identifier: MIT
//
// Helium, the vector extension of Cortex-M: four lanes, eight registers, and broadcast operands
// that fma takes from a core register. Numbers below 2^-126 count as 0, in operands and in results.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__ARM_FEATURE_MVE) || !(__ARM_FEATURE_MVE & 2)
#error "the port `helium` needs Helium with float: compile with -mcpu=cortex-m55 -mfloat-abi=hard"
#else

#include "tinyattn/port/fpu.hpp"
#include "tinyattn/port/helium_backward.hpp"
#include "tinyattn/port/helium_integers.hpp"
#include "tinyattn/port/helium_rows.hpp"
#include "tinyattn/port/helium_softmax.hpp"

#include <arm_mve.h>

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct helium : helium_rows, helium_backward, helium_integers, helium_softmax {
  using vec = float32x4_t;
  using broadcast_operand = float;
  using one_lane = fpu;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t registers = 8;
  static constexpr std::size_t tile_vectors = 2;
  static constexpr std::size_t block_rows = 3;
  static constexpr std::size_t query_rows = 3;
  static constexpr bool tiles_overlap = true, shares_code = true, interleaves_rows = false;

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept {
    return *reinterpret_cast<const unaligned*>(from);
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    order_memory();
    const vec v = vld1q_z_f32(from, first_lanes(n));
    order_memory();
    return fill == 0.0f ? v : vpselq_f32(v, splat(fill), first_lanes(n));
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept {
    *reinterpret_cast<unaligned*>(to) = v;
  }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    order_memory();
    vst1q_p_f32(to, v, first_lanes(n));
    order_memory();
  }
  // to[q * step] = v[q].
  TINYATTN_ALWAYS_INLINE static void scatter(float* to, std::size_t step, vec v) noexcept {
    order_memory();
    vstrwq_scatter_shifted_offset_f32(
        to, vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<std::uint32_t>(step)), v);
    order_memory();
  }
  TINYATTN_ALWAYS_INLINE static float broadcast(float x) noexcept { return x; }
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return vdupq_n_f32(x); }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return vgetq_lane_f32(v, 0); }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec butterfly(vec v) noexcept {
    if constexpr (By == 1) return vrev64q_f32(v);
    vec halves;
    asm("vmov.f64 %e0, %f1\n\tvmov.f64 %f0, %e1"
        : "=&w"(halves)
        : "w"(v));  // GCC 12 would go through memory
    return halves;
  }

  TINYATTN_ALWAYS_INLINE static vec fma(float a, vec b, vec c) noexcept {
    return vfmaq_n_f32(c, b, a);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept { return vfmaq_f32(c, a, b); }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, float c) noexcept {
    return vfmasq_n_f32(a, b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, float b) noexcept {
    return rounded(vmulq_n_f32(a, b));
  }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, float b) noexcept {
#if defined(__clang__)
    return vaddq_n_f32(rounded(a), b);
#else
    vec sum;
    asm("vadd.f32 %q0, %q1, %2"
        : "=w"(sum)
        : "w"(a), "r"(b));  // a barrier would copy operands needed later
    return sum;
#endif
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(vmulq_f32(a, b)); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept {
    return vaddq_f32(rounded(a), rounded(b));
  }
  // Lane by lane, but in place: vectors share their registers with single floats.
  TINYATTN_ALWAYS_INLINE static vec divide(vec a, vec b) noexcept {
    register vec quotients asm("q0") = a;
    register vec divisors asm("q1") = b;
    asm("vdiv.f32 s0, s0, s4\n vdiv.f32 s1, s1, s5\n vdiv.f32 s2, s2, s6\n vdiv.f32 s3, s3, s7"
        : "+w"(quotients)
        : "w"(divisors));
    return quotients;
  }
  TINYATTN_ALWAYS_INLINE static vec square_root(vec v) noexcept {
    register vec roots asm("q0") = v;
    asm("vsqrt.f32 s0, s0\n vsqrt.f32 s1, s1\n vsqrt.f32 s2, s2\n vsqrt.f32 s3, s3" : "+w"(roots));
    return roots;
  }
  TINYATTN_ALWAYS_INLINE static vec maximum(vec a, vec b) noexcept { return vmaxnmq_f32(a, b); }
  // In this instruction set the comparison "less" is true for NaN, "greater" is not. Clang 19
  // nevertheless replaces "greater" by "less" if it sees a broadcast operand, but not after a
  // barrier.
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
#if defined(__clang__)
    return vpselq_f32(less, otherwise, vcmpgtq_f32(rounded(b), a));
#else
    vec selected;
    mve_pred16_t is_less;  // GCC 12 would move it to a core register and back
    asm("vcmp.f32 gt, %q3, %q2\n\tvpsel %q0, %q4, %q5"
        : "=w"(selected), "=&Up"(is_less)
        : "w"(a), "w"(b), "w"(less), "w"(otherwise));
    return selected;
#endif
  }
  TINYATTN_ALWAYS_INLINE static vec cut_below(vec v, vec least) noexcept {
    return select_less(vabsq_f32(v), least, splat(0.0f), v);
  }
  using words [[gnu::vector_size(16)]] = std::int32_t;
  TINYATTN_ALWAYS_INLINE static words look_up(const std::uint16_t* table, words index) noexcept {
    return reinterpret_cast<words>(
        vldrhq_gather_shifted_offset_u32(table, reinterpret_cast<uint32x4_t>(index)));
  }
  TINYATTN_ALWAYS_INLINE static vec exponent_bits(vec shifted) noexcept {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23));
  }

  // The sums of a row and of its squares, in four vectors of lanes: GCC 12 would keep an array on
  // the stack.
  TINYATTN_ALWAYS_INLINE static float sum_of_row(const float* row, std::size_t count) noexcept {
    return sum_in_lanes(row, count,
                        [](vec sum, vec v) TINYATTN_INLINE_LAMBDA { return add(sum, v); });
  }
  TINYATTN_ALWAYS_INLINE static float sum_of_squares(const float* row, std::size_t count) noexcept {
    return sum_in_lanes(row, count,
                        [](vec sum, vec v) TINYATTN_INLINE_LAMBDA { return fma(v, v, sum); });
  }

#if defined(__OPTIMIZE__)  // else registers do not suffice
  // A whole tile in assembly: GCC 12 copies accumulators, and spends three instructions on two
  // addresses. Sums are in q0 to q5, a row of b in q6 and q7, a column of a in x0 to x2. Each fma
  // is followed by one instruction of another kind, which takes none of its time. These load what
  // the next step multiplies, so that the last step is apart.
  template <std::size_t Rows, std::size_t Vectors>
  requires(Rows == 3 && Vectors == 2) TINYATTN_ALWAYS_INLINE
      static void tile(const float* initial, const float* a, std::size_t a_stride, const float* b,
                       std::size_t b_stride, float* out, std::size_t out_stride,
                       std::size_t inner) noexcept {
    const float *a1 = a + a_stride, *a2 = a1 + a_stride;
    std::uint32_t x2;
    // GCC 12 wants low registers for all variables that change: the seven that are left next to a
    // frame pointer. So the constraint h puts the others into high ones.
    // clang-format off
#define TINYATTN_STEP(NEXT)                                                                       \
  "vfma.f32 q0, q6, %[x0]\n vldrw.u32 q7, [%[b], #16]\n"                                          \
  "vfma.f32 q2, q6, %[x1]\n" NEXT("add %[b], %[step]\n")                                          \
  "vfma.f32 q4, q6, %[x2]\n" NEXT("vldrw.u32 q6, [%[b]]\n")                                       \
  "vfma.f32 q1, q7, %[x0]\n" NEXT("ldr %[x0], [%[a0]], #4\n")                                     \
  "vfma.f32 q3, q7, %[x1]\n" NEXT("ldr %[x1], [%[a1]], #4\n")                                     \
  "vfma.f32 q5, q7, %[x2]\n" NEXT("ldr %[x2], [%[a2]], #4\n")
#define TINYATTN_LOAD(instruction) instruction
#define TINYATTN_OMIT(instruction)
    asm volatile(
        "vldrw.u32 q0, [%[x0]]\n vldrw.u32 q1, [%[x0], #16]\n"
        "vmov q2, q0\n vmov q3, q1\n vmov q4, q0\n vmov q5, q1\n"
        "subs lr, %[x1], #1\n blo 3f\n"
        "vldrw.u32 q6, [%[b]]\n ldr %[x0], [%[a0]], #4\n ldr %[x1], [%[a1]], #4\n"
        "ldr %[x2], [%[a2]], #4\n wls lr, lr, 2f\n"
        "1: " TINYATTN_STEP(TINYATTN_LOAD) "le lr, 1b\n"
        "2: " TINYATTN_STEP(TINYATTN_OMIT)
        "3: vstrw.32 q0, [%[out]]\n add %[a0], %[out], %[out_step]\n vstrw.32 q1, [%[out], #16]\n"
        "add %[a1], %[a0], %[out_step]\n vstrw.32 q2, [%[a0]]\n vstrw.32 q3, [%[a0], #16]\n"
        "vstrw.32 q4, [%[a1]]\n vstrw.32 q5, [%[a1], #16]\n"
        : [a0] "+&r"(a), [a1] "+&r"(a1), [a2] "+&r"(a2), [b] "+&r"(b), [x0] "+&r"(initial),
          [x1] "+&r"(inner), [x2] "=&r"(x2)
        : [step] "h"(b_stride * sizeof(float)), [out] "h"(out),
          [out_step] "h"(out_stride * sizeof(float))
        : "memory", "cc", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7");
    // clang-format on
#undef TINYATTN_OMIT
#undef TINYATTN_LOAD
#undef TINYATTN_STEP
  }
#endif

 private:
  // GCC 12 gets the intrinsics that load and store wrong. It believes that a load reads one float,
  // and moves stores to the other three after it; and that a predicated store writes all lanes, and
  // deletes earlier stores to the others. So loads and stores of whole vectors use no intrinsics,
  // and for partial vectors intrinsics are between barriers that no memory access crosses.
  using unaligned [[gnu::aligned(4), gnu::may_alias]] = float32x4_t;
  TINYATTN_ALWAYS_INLINE static void order_memory() noexcept { asm volatile("" : : : "memory"); }
  TINYATTN_ALWAYS_INLINE static mve_pred16_t first_lanes(std::size_t n) noexcept {
    return vctp32q(static_cast<std::uint32_t>(n));
  }

  TINYATTN_ALWAYS_INLINE static float sum_in_lanes(const float* row, std::size_t count,
                                                   const auto& add_to) noexcept {
    vec q0 = splat(0.0f), q1 = q0, q2 = q0, q3 = q0;
    for (std::size_t left = count / 16; left != 0; --left, row += 16) {
      q0 = add_to(q0, load(row));
      q1 = add_to(q1, load(row + 4));
      q2 = add_to(q2, load(row + 8));
      q3 = add_to(q3, load(row + 12));
    }
    // Lanes that are not loaded are 0, which changes no sum. A count above 4 loads all lanes.
    if (count %= 16; count != 0) q0 = add_to(q0, load_n(row, count, 0.0f));
    if (count > 4) q1 = add_to(q1, load_n(row + 4, count - 4, 0.0f));
    if (count > 8) q2 = add_to(q2, load_n(row + 8, count - 8, 0.0f));
    if (count > 12) q3 = add_to(q3, load_n(row + 12, count - 12, 0.0f));
    q0 = add(add(q0, q2), add(q1, q3));
    q0 = add(q0, butterfly<2>(q0));
    return first(add(q0, butterfly<1>(q0)));
  }

  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+w"(v));
    return v;
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
