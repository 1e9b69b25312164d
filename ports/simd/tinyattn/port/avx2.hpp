// SPDX-License-Identifier: MIT
//
// AVX2 with FMA: eight lanes.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__AVX2__) || !defined(__FMA__)
#error "the port `avx2` needs AVX2 and FMA: compile with -mavx2 -mfma"
#else

#include "tinyattn/port/fpu.hpp"
#include "tinyattn/port/sse2.hpp"
#include "tinyattn/port/x86_integers.hpp"
#include "tinyattn/port/x86_lookups.hpp"

#include <immintrin.h>

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

// Four lanes, for short rows: SSE2 moves parts of them without masks, which are slow.
struct avx2_half : sse2 {
  using broadcast_operand = vec;
  using one_lane = fpu;
  static constexpr std::size_t registers = 16;
  static constexpr bool tiles_overlap = false, shares_code = false, interleaves_rows = true;

  TINYATTN_ALWAYS_INLINE static vec broadcast(float x) noexcept { return splat(x); }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return _mm_fmadd_ps(a, b, c);
  }
};

struct avx2 : avx2_integers, avx2_lookups {
  using vec = __m256;
  using broadcast_operand = __m256;
  using one_lane = fpu;
  using half = avx2_half;
  static constexpr std::size_t lanes = 8;
  static constexpr std::size_t registers = 16;
  static constexpr std::size_t tile_vectors = 2;
  static constexpr std::size_t block_rows = 96;
  static constexpr std::size_t query_rows = 12;
  static constexpr bool tiles_overlap = false, shares_code = false, interleaves_rows = true;

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept {
    return _mm256_loadu_ps(from);
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    return _mm256_blendv_ps(splat(fill), _mm256_maskload_ps(from, below(n)),
                            _mm256_castsi256_ps(below(n)));
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { _mm256_storeu_ps(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    _mm256_maskstore_ps(to, below(n), v);
  }
  TINYATTN_ALWAYS_INLINE static vec broadcast(float x) noexcept { return _mm256_set1_ps(x); }
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return _mm256_set1_ps(x); }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return _mm256_cvtss_f32(v); }
  TINYATTN_ALWAYS_INLINE static void interleave(vec a, vec b, vec& low, vec& high) noexcept {
    low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec butterfly(vec v) noexcept {
    return __builtin_shufflevector(v, v, By, 1 ^ By, 2 ^ By, 3 ^ By, 4 ^ By, 5 ^ By, 6 ^ By,
                                   7 ^ By);
  }

  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return _mm256_fmadd_ps(a, b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept {
    return rounded(_mm256_mul_ps(a, b));
  }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept {
    return _mm256_add_ps(rounded(a), rounded(b));
  }
  // An asm statement: divided.hpp says why.
  TINYATTN_ALWAYS_INLINE static vec divide(vec a, vec b) noexcept {
    asm("vdivps {%1, %0, %0|%0, %0, %1}" : "+x"(a) : "x"(b));
    return a;
  }
  TINYATTN_ALWAYS_INLINE static vec square_root(vec v) noexcept {
    asm("vsqrtps {%0, %0|%0, %0}" : "+x"(v));
    return v;
  }
  TINYATTN_ALWAYS_INLINE static vec maximum(vec a, vec b) noexcept { return _mm256_max_ps(a, b); }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return _mm256_blendv_ps(otherwise, less, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  TINYATTN_ALWAYS_INLINE static vec exponent_bits(vec shifted) noexcept {
    return reinterpret_cast<vec>(reinterpret_cast<__v8su>(shifted) << 23);
  }

 private:
  TINYATTN_ALWAYS_INLINE static __m256i below(std::size_t n) noexcept {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }

  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+x"(v));
    return v;
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
