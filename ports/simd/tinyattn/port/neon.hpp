// SPDX-License-Identifier: MIT
//
// NEON: four lanes. The two architectures differ in the number of registers and in what one
// instruction can load; and AArch64 multiplies by a lane of a register, where ARMv7 broadcasts each
// element to a register. On ARMv7 numbers below 2^-126 count as 0, in operands and in results.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__ARM_NEON) || !defined(__ARM_FEATURE_FMA)
#error "the port `neon` needs NEON and a fused multiply-add: AArch64, or -mfpu=neon-vfpv4"
#else

#include "tinyattn/port/fpu.hpp"
#include "tinyattn/port/neon_integers.hpp"
#include "tinyattn/port/neon_lookups.hpp"
#include "tinyattn/port/neon_rows.hpp"

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct neon : neon_rows, neon_integers, neon_lookups {
  using vec = float32x4_t;
  using broadcast_operand = float32x4_t;
  using one_lane = fpu;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t block_rows = 4;
  static constexpr std::size_t query_rows = 4;
  static constexpr bool tiles_overlap = false, shares_code = false, interleaves_rows = true;
#if defined(__aarch64__)
  // Of 32: the others hold four floats of `a` for each row of the tile, and the row of `b` loaded
  // ahead.
  static constexpr std::size_t registers = 24;
  static constexpr std::size_t tile_vectors = 4;
#else
  static constexpr std::size_t registers = 16;
  static constexpr std::size_t tile_vectors = 2;
#endif

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept { return vld1q_f32(from); }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    if (n == lanes) return load(from);
    vec v = splat(fill);
    if (n == 1) v = vld1q_lane_f32(from, v, 0);
    if (n >= 2) v = vcombine_f32(vld1_f32(from), vget_high_f32(v));
    if (n == 3) v = vld1q_lane_f32(from + 2, v, 2);
    return v;
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { vst1q_f32(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    if (n == lanes) return store(to, v);
    if (n == 1) vst1q_lane_f32(to, v, 0);
    if (n >= 2) vst1_f32(to, vget_low_f32(v));
    if (n == 3) vst1q_lane_f32(to + 2, v, 2);
  }
  TINYATTN_ALWAYS_INLINE static vec broadcast(float x) noexcept { return vdupq_n_f32(x); }
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return vdupq_n_f32(x); }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return vgetq_lane_f32(v, 0); }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec butterfly(vec v) noexcept {
    return By == 1 ? vrev64q_f32(v) : vextq_f32(v, v, 2);
  }
  TINYATTN_ALWAYS_INLINE static void interleave(vec a, vec b, vec& low, vec& high) noexcept {
    const float32x4x2_t both = vzipq_f32(a, b);
    low = both.val[0];
    high = both.val[1];
  }

  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept { return vfmaq_f32(c, a, b); }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(vmulq_f32(a, b)); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept {
    return vaddq_f32(rounded(a), rounded(b));
  }
#if defined(__aarch64__)
  // An asm statement: divided.hpp says why.
  TINYATTN_ALWAYS_INLINE static vec divide(vec a, vec b) noexcept {
    asm("fdiv %0.4s, %0.4s, %1.4s" : "+w"(a) : "w"(b));
    return a;
  }
  TINYATTN_ALWAYS_INLINE static vec square_root(vec v) noexcept {
    asm("fsqrt %0.4s, %0.4s" : "+w"(v));
    return v;
  }
#else
  // ARMv7 has no vector division: divides lane by lane, in place, since the lanes of q0 to q7 are
  // the registers s0 to s31.
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
#endif
  TINYATTN_ALWAYS_INLINE static vec maximum(vec a, vec b) noexcept { return vmaxq_f32(a, b); }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return vbslq_f32(is_less(a, b), less, otherwise);
  }
  TINYATTN_ALWAYS_INLINE static vec exponent_bits(vec shifted) noexcept {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23));
  }

  // A tile. AArch64 multiplies by one lane of a register that holds four floats of a; ARMv7 loads
  // each float when it is needed.
  template <std::size_t Rows, std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static void tile(const float* initial, const float* a,
                                          std::size_t a_stride, const float* b,
                                          std::size_t b_stride, float* out, std::size_t out_stride,
                                          std::size_t inner) noexcept {
    vec sums[Rows][Vectors];
    const float* rows[Rows];
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r, a += a_stride) {
      rows[r] = a;
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v)
        sums[r][v] = r == 0 ? load(initial + v * lanes) : sums[0][v];
    }
    // Vectors of b that are loaded at a time: a single row may be wider than one instruction can
    // load.
    constexpr std::size_t group = Vectors % tile_vectors == 0 ? tile_vectors : Vectors;
    const auto add_row = [&](auto fma_of) TINYATTN_INLINE_LAMBDA {
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; v += group) {
        vec row[group];
        const std::size_t last = Vectors - group;
        take_row(b, v == last ? b_stride - last * lanes : group * lanes, row);
        TINYATTN_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) fma_of(r, v, row);
      }
    };
    std::size_t k = 0;
#if defined(__aarch64__)
    repeat(inner / 4, [&]() TINYATTN_INLINE_LAMBDA {
      vec four[Rows];
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) four[r] = load(rows[r] + k);
      const auto step = [&](auto lane) TINYATTN_INLINE_LAMBDA {
        add_row([&](std::size_t r, std::size_t v, const vec(&row)[group]) TINYATTN_INLINE_LAMBDA {
          TINYATTN_UNROLL
          for (std::size_t q = 0; q < group; ++q)
            sums[r][v + q] =
                vfmaq_laneq_f32(sums[r][v + q], row[q], four[r], decltype(lane)::value);
        });
      };
      step(std::integral_constant<int, 0>{});
      step(std::integral_constant<int, 1>{});
      step(std::integral_constant<int, 2>{});
      step(std::integral_constant<int, 3>{});
      k += 4;
    });
#endif
    repeat(inner - k, [&]() TINYATTN_INLINE_LAMBDA {
      vec s;
      add_row([&](std::size_t r, std::size_t v, const vec(&row)[group]) TINYATTN_INLINE_LAMBDA {
#if defined(__aarch64__)
        if (v == 0) s = broadcast(rows[r][k]);
#else
        asm(""
            : "+r"(rows[r]));  // else a compiler that knows the distance of rows would not
                                  // increment the address
        if (v == 0) s = broadcast(*rows[r]++);
#endif
        TINYATTN_UNROLL
        for (std::size_t q = 0; q < group; ++q) {
          sums[r][v + q] = fma(s, row[q], sums[r][v + q]);
          // Otherwise GCC would load the next part first, and copy this one.
          if constexpr (group != Vectors) asm("" : "+w"(sums[r][v + q]) : : "memory");
        }
      });
      ++k;
    });
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r, out += out_stride) {
      // Otherwise each row of `out` would have its own address, kept for all tiles.
      if (!__builtin_constant_p(out_stride)) asm("" : "+r"(out));
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v) store(out + v * lanes, sums[r][v]);
    }
  }

 private:
  TINYATTN_ALWAYS_INLINE static uint32x4_t is_less(vec a, vec b) noexcept {
#if defined(__aarch64__) || defined(__clang__)
    return vcltq_f32(a, b);
#else
    uint32x4_t mask;  // GCC would compare lane by lane, since vectors flush subnormals
    asm("vcgt.f32 %q0, %q1, %q2" : "=w"(mask) : "w"(b), "w"(a));
    return mask;
#endif
  }

  // Repeats `step` in a loop that tests at its end, which GCC does not make of a `for` at -Os. The
  // counter has 32 bits, enough for rows of 2^34 floats: with 64 bits, where a difference of sizes
  // could wrap, GCC 12 warns that so many steps move a pointer out of memory.
  TINYATTN_ALWAYS_INLINE static void repeat(std::size_t times, const auto& step) noexcept {
    std::uint32_t left = static_cast<std::uint32_t>(times);
    if (left == 0) return;
    do step();
    while (--left != 0);
  }
  // Loads a row of b and increments the address to the next: by one instruction where the tile has
  // its full width. GCC 12 has no intrinsic that does both, and none for ARMv7. If the row were an
  // operand "m", GCC would move sums between registers.
  template <std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static void take_row(const float*& from, std::size_t stride,
                                              vec (&row)[Vectors]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = load(from + v * lanes);
    from += stride;
  }
#if !defined(__aarch64__)
  TINYATTN_ALWAYS_INLINE static void take_row(const float*& from, std::size_t stride,
                                              vec (&row)[2]) noexcept {
    register vec first asm("q8");  // vld1 loads consecutive registers
    register vec second asm("q9");
    asm("vld1.32 {d16-d19}, [%2], %3"
        : "=w"(first), "=w"(second), "+r"(from)
        : "r"(stride * sizeof(float))
        : "memory");
    row[0] = first;
    row[1] = second;
  }
#else
  TINYATTN_ALWAYS_INLINE static void take_row(const float*& from, std::size_t stride,
                                              vec (&row)[4]) noexcept {
#if defined(__clang__)
    const float32x4x4_t four = vld1q_f32_x4(from);
    from += stride;
#else
    float32x4x4_t four;
    asm("ld1 {%S0.4s - %V0.4s}, [%1], %2"
        : "=w"(four), "+r"(from)
        : "r"(stride * sizeof(float))
        : "memory");
#endif
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < 4; ++v) row[v] = four.val[v];
  }
#endif

  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+w"(v));
    return v;
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

TINYATTN_END

#endif
