// SPDX-License-Identifier: MIT
//
// AVX-512: sixteen lanes, so that a row sum is one register, and masks for what does not fill a vector.
#pragma once

#include "tinyattn/port/fpu.hpp"

#if !defined(__AVX512F__)
#error "the port `avx512` needs AVX-512: compile with -mavx512f"
#endif

#include <immintrin.h>

#include <cstddef>

namespace tinyattn::port {

struct avx512 {
  using vec = __m512;
  using broadcasted = __m512;
  using one_lane = fpu;
  static constexpr std::size_t lanes = 16;
  static constexpr std::size_t registers = 32;
  static constexpr std::size_t tile_vectors = 4;
  static constexpr std::size_t block_rows = 12;
  static constexpr bool shares_code = false;

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept { return _mm512_loadu_ps(from); }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n) noexcept { return _mm512_maskz_loadu_ps(first(n), from); }
  template <std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static void load_row(const float* from, vec (&row)[Vectors]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = load(from + v * lanes);
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { _mm512_storeu_ps(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept { _mm512_mask_storeu_ps(to, first(n), v); }
  TINYATTN_ALWAYS_INLINE static vec broadcast(float x) noexcept { return _mm512_set1_ps(x); }
  TINYATTN_ALWAYS_INLINE static vec fill(float x) noexcept { return _mm512_set1_ps(x); }

  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept { return _mm512_fmadd_ps(a, b, c); }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(_mm512_mul_ps(a, b)); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept { return _mm512_add_ps(rounded(a), rounded(b)); }
  TINYATTN_ALWAYS_INLINE static vec max(vec a, vec b) noexcept { return a > b ? a : b; }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), otherwise, less);
  }
  TINYATTN_ALWAYS_INLINE static vec power_of_two(vec shifted) noexcept {
    return reinterpret_cast<vec>((reinterpret_cast<__v16su>(shifted) << 23) + 0x3f800000u);
  }

 private:
  TINYATTN_ALWAYS_INLINE static __mmask16 first(std::size_t n) noexcept { return static_cast<__mmask16>((1u << n) - 1); }

  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+v"(v));
    return v;
  }
};

static_assert(contract<avx512>);

}  // namespace tinyattn::port
