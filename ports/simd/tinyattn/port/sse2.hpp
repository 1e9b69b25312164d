// SPDX-License-Identifier: MIT
//
// SSE2: four lanes for every x86-64. Many have no fused multiply-add, so fma is computed in double,
// two lanes to a register.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__SSE2__)
#error "the port `sse2` needs SSE2: compile with -msse2"
#else

#include "tinyattn/port/scalar.hpp"
#include "tinyattn/port/x86_integers.hpp"

#include <emmintrin.h>

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct sse2 : sse2_integers {
  using vec = __m128;
  struct broadcast_operand {
    vec single;
    __m128d pair;
  };
  using one_lane = scalar;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t registers = 12;  // of 16: an fma holds four more
  static constexpr std::size_t tile_vectors = 2;
  static constexpr std::size_t block_rows = 4;
  static constexpr std::size_t query_rows = 4;
  // An fma is some thirty instructions: code for each shape would be large and gain little.
  static constexpr bool tiles_overlap = true, shares_code = true, interleaves_rows = false;

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept { return _mm_loadu_ps(from); }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    if (n == lanes) return load(from);
    vec v = splat(fill);
    if (n == 1) v = _mm_move_ss(v, _mm_load_ss(from));
    if (n >= 2) v = _mm_loadl_pi(v, reinterpret_cast<const __m64*>(from));
    if (n == 3)
      v = _mm_shuffle_ps(v, _mm_shuffle_ps(_mm_load_ss(from + 2), v, _MM_SHUFFLE(3, 3, 0, 0)),
                         _MM_SHUFFLE(2, 0, 1, 0));
    return v;
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { _mm_storeu_ps(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    if (n == lanes) return store(to, v);
    if (n == 1) _mm_store_ss(to, v);
    if (n >= 2) _mm_storel_pi(reinterpret_cast<__m64*>(to), v);
    if (n == 3) _mm_store_ss(to + 2, _mm_movehl_ps(v, v));
  }
  TINYATTN_ALWAYS_INLINE static broadcast_operand broadcast(float x) noexcept {
    return {splat(x), _mm_set1_pd(static_cast<double>(x))};
  }
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return _mm_set1_ps(x); }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return _mm_cvtss_f32(v); }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec butterfly(vec v) noexcept {
    return _mm_shuffle_ps(v, v, By == 1 ? _MM_SHUFFLE(2, 3, 0, 1) : _MM_SHUFFLE(1, 0, 3, 2));
  }
  TINYATTN_ALWAYS_INLINE static void interleave(vec a, vec b, vec& low, vec& high) noexcept {
    low = _mm_unpacklo_ps(a, b);
    high = _mm_unpackhi_ps(a, b);
  }

  TINYATTN_ALWAYS_INLINE static vec fma(broadcast_operand a, vec b, vec c) noexcept {
    return fma(a.pair, a.pair, b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, broadcast_operand c) noexcept {
    return fma(a, b, c.single);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return fma(low(a), high(a), b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(a * b); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept { return rounded(a) + rounded(b); }
  // An asm statement: divided.hpp says why.
  TINYATTN_ALWAYS_INLINE static vec divide(vec a, vec b) noexcept {
#if defined(__AVX__)
    asm("vdivps {%1, %0, %0|%0, %0, %1}" : "+x"(a) : "x"(b));
#else
    asm("divps {%1, %0|%0, %1}" : "+x"(a) : "x"(b));
#endif
    return a;
  }
  TINYATTN_ALWAYS_INLINE static vec square_root(vec v) noexcept {
#if defined(__AVX__)
    asm("vsqrtps {%0, %0|%0, %0}" : "+x"(v));
#else
    asm("sqrtps {%0, %0|%0, %0}" : "+x"(v));
#endif
    return v;
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, broadcast_operand b) noexcept {
    return mul(a, b.single);
  }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, broadcast_operand b) noexcept {
    return add(a, b.single);
  }
  TINYATTN_ALWAYS_INLINE static vec maximum(vec a, vec b) noexcept { return a > b ? a : b; }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    const vec is_less = _mm_cmplt_ps(a, b);
    return _mm_or_ps(_mm_and_ps(is_less, less), _mm_andnot_ps(is_less, otherwise));
  }
  TINYATTN_ALWAYS_INLINE static vec exponent_bits(vec shifted) noexcept {
    return reinterpret_cast<vec>(reinterpret_cast<__v4su>(shifted) << 23);
  }

 private:
  TINYATTN_ALWAYS_INLINE static __m128d low(vec v) noexcept { return _mm_cvtps_pd(v); }
  TINYATTN_ALWAYS_INLINE static __m128d high(vec v) noexcept {
    return _mm_cvtps_pd(_mm_movehl_ps(v, v));
  }
  TINYATTN_ALWAYS_INLINE static vec joined(__m128d low_half, __m128d high_half) noexcept {
    return _mm_movelh_ps(_mm_cvtpd_ps(low_half), _mm_cvtpd_ps(high_half));
  }

  // As in fma_in_double.hpp: products are exact in double, and a sum whose low 28 bits are not all
  // zero may be rounded again.
  TINYATTN_ALWAYS_INLINE static vec fma(__m128d low_a, __m128d high_a, vec b, vec c) noexcept {
    const __m128d low_product = low_a * low(b), high_product = high_a * high(b);
    const __m128d low_sum = low_product + low(c), high_sum = high_product + high(c);
    const vec low_words =
        _mm_shuffle_ps(_mm_castpd_ps(low_sum), _mm_castpd_ps(high_sum), _MM_SHUFFLE(2, 0, 2, 0));
    if (_mm_movemask_epi8(low_bits_are_zero(_mm_castps_si128(low_words))) == 0) [[likely]]
      return joined(low_sum, high_sum);
    return add_to_odd(low_product, high_product, c);
  }

  // Not inlined, since every fma contains a call of it.
  [[gnu::noinline, gnu::cold]] static vec add_to_odd(__m128d low_product, __m128d high_product,
                                                     vec c) noexcept {
    return joined(add_to_odd(low_product, low(c)), add_to_odd(high_product, high(c)));
  }

  TINYATTN_ALWAYS_INLINE static __m128i low_bits_are_zero(__m128i words) noexcept {
    return _mm_cmpeq_epi32(_mm_and_si128(words, _mm_set1_epi32(0x0fffffff)), _mm_setzero_si128());
  }

  // Returns the sum, rounded to odd where its low bits are zero. Where the sum is infinite, the
  // error is NaN, and so neither positive nor negative.
  TINYATTN_ALWAYS_INLINE static __m128d add_to_odd(__m128d product, __m128d addend) noexcept {
    const __m128d zero = _mm_setzero_pd();
    const __m128d sum = product + addend;
    const __m128d addend_in_sum = sum - product;
    const __m128d error = (product - (sum - addend_in_sum)) + (addend - addend_in_sum);
    const __m128d positive = _mm_cmpgt_pd(error, zero), negative = _mm_cmplt_pd(error, zero);
    const __m128i towards_zero = _mm_castpd_si128(_mm_xor_pd(positive, _mm_cmpgt_pd(sum, zero)));
    const __m128i neighbour = _mm_or_si128(towards_zero, _mm_set1_epi64x(1));
    const __m128i inexact = _mm_castpd_si128(_mm_or_pd(positive, negative));
    const __m128i on_a_tie =
        _mm_shuffle_epi32(low_bits_are_zero(_mm_castpd_si128(sum)), _MM_SHUFFLE(2, 2, 0, 0));
    const __m128i step = _mm_and_si128(neighbour, _mm_and_si128(inexact, on_a_tie));
    return _mm_castsi128_pd(_mm_castpd_si128(sum) + step);
  }

  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+x"(v));
    return v;
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
