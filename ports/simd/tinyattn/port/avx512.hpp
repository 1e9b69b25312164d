// SPDX-License-Identifier: MIT
//
// AVX-512: sixteen lanes, so that a row sum is one register, and masks for partial vectors. Rows
// that are known to be short use eight lanes or four.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__AVX512F__) || !defined(__AVX512VL__) || !defined(__FMA__)
#error "the port `avx512` needs AVX-512 with VL, and FMA: compile with -march=x86-64-v4"
#else

#include "tinyattn/port/fpu.hpp"
#include "tinyattn/port/x86_integers.hpp"
#include "tinyattn/port/x86_lookups.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

namespace detail {

// Operations whose intrinsics differ in name by width. A load of what a masked store wrote waits
// until that has left the store buffer, and a masked store takes six cycles on Zen 4: so one, two
// or six floats, if their number is a constant, are moved without a mask.
template <std::size_t Lanes>
struct avx512_names;

template <>
struct avx512_names<16> {
  using vec = __m512;
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return _mm512_set1_ps(x); }
  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept {
    return _mm512_loadu_ps(from);
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    return _mm512_mask_loadu_ps(splat(fill), below(n), from);
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { _mm512_storeu_ps(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    _mm512_mask_storeu_ps(to, below(n), v);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return _mm512_fmadd_ps(a, b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), otherwise, less);
  }
  TINYATTN_ALWAYS_INLINE static __mmask16 below(std::size_t n) noexcept {
    return static_cast<__mmask16>((1u << n) - 1);
  }
};

template <>
struct avx512_names<8> : avx2_lookups {
  using vec = __m256;
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return _mm256_set1_ps(x); }
  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept {
    return _mm256_loadu_ps(from);
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    return _mm256_mask_loadu_ps(splat(fill), below(n), from);
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { _mm256_storeu_ps(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    if (__builtin_constant_p(n) && n == 6) {
      _mm_storeu_ps(to, _mm256_castps256_ps128(v));
      return _mm_storel_pi(reinterpret_cast<__m64*>(to + 4), _mm256_extractf128_ps(v, 1));
    }
    _mm256_mask_storeu_ps(to, below(n), v);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return _mm256_fmadd_ps(a, b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return _mm256_mask_blend_ps(_mm256_cmp_ps_mask(a, b, _CMP_LT_OQ), otherwise, less);
  }
  TINYATTN_ALWAYS_INLINE static __mmask8 below(std::size_t n) noexcept {
    return static_cast<__mmask8>((1u << n) - 1);
  }
};

template <>
struct avx512_names<4> {
  using vec = __m128;
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return _mm_set1_ps(x); }
  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept { return _mm_loadu_ps(from); }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    if (__builtin_constant_p(n) && n == 1) return _mm_move_ss(splat(fill), _mm_load_ss(from));
    if (__builtin_constant_p(n) && n == 2)
      return _mm_loadl_pi(splat(fill), reinterpret_cast<const __m64*>(from));
    return _mm_mask_loadu_ps(splat(fill), below(n), from);
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept { _mm_storeu_ps(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    if (__builtin_constant_p(n) && n == 1) return _mm_store_ss(to, v);
    if (__builtin_constant_p(n) && n == 2) return _mm_storel_pi(reinterpret_cast<__m64*>(to), v);
    _mm_mask_storeu_ps(to, below(n), v);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return _mm_fmadd_ps(a, b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return _mm_mask_blend_ps(_mm_cmp_ps_mask(a, b, _CMP_LT_OQ), otherwise, less);
  }
  TINYATTN_ALWAYS_INLINE static __mmask8 below(std::size_t n) noexcept {
    return static_cast<__mmask8>((1u << n) - 1);
  }
};

}  // namespace detail

template <std::size_t Lanes>
struct avx512_lanes : detail::avx512_names<Lanes> {
  using vec = typename detail::avx512_names<Lanes>::vec;
  using broadcast_operand = vec;
  using one_lane = fpu;
  using half = avx512_lanes<Lanes / 2>;
  static constexpr std::size_t lanes = Lanes;
  static constexpr std::size_t registers = 32;
  static constexpr std::size_t tile_vectors = 4;
  static constexpr std::size_t block_rows = 96;
  static constexpr std::size_t query_rows = 16;
  static constexpr bool tiles_overlap = false, shares_code = false, interleaves_rows = true;

  TINYATTN_ALWAYS_INLINE static vec broadcast(float x) noexcept { return avx512_lanes::splat(x); }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return v[0]; }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec butterfly(vec v) noexcept {
    return [v]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      return __builtin_shufflevector(v, v, (Lane ^ By)...);
    }
    (std::make_index_sequence<Lanes>{});
  }
  TINYATTN_ALWAYS_INLINE static void interleave(vec a, vec b, vec& low, vec& high) noexcept {
    [&]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      low = __builtin_shufflevector(a, b, (Lane / 2 + Lane % 2 * Lanes)...);
      high = __builtin_shufflevector(a, b, (Lanes / 2 + Lane / 2 + Lane % 2 * Lanes)...);
    }
    (std::make_index_sequence<Lanes>{});
  }

  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(a * b); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept { return rounded(a) + rounded(b); }
  // An asm statement: divided.hpp says why.
  TINYATTN_ALWAYS_INLINE static vec divide(vec a, vec b) noexcept {
    asm("vdivps {%1, %0, %0|%0, %0, %1}" : "+v"(a) : "v"(b));
    return a;
  }
  TINYATTN_ALWAYS_INLINE static vec square_root(vec v) noexcept {
    asm("vsqrtps {%0, %0|%0, %0}" : "+v"(v));
    return v;
  }
  TINYATTN_ALWAYS_INLINE static vec maximum(vec a, vec b) noexcept { return a > b ? a : b; }
  TINYATTN_ALWAYS_INLINE static vec exponent_bits(vec shifted) noexcept {
    using bits [[gnu::vector_size(sizeof(vec))]] = unsigned;
    return reinterpret_cast<vec>(reinterpret_cast<bits>(shifted) << 23);
  }

 private:
  // An empty barrier, as in rounded.hpp.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("" : "+v"(v));
    return v;
  }
};

// A half of fewer than four lanes would gain nothing.
template <>
struct avx512_lanes<2>;

struct avx512 : avx512_lanes<16>, avx512_integers {
  // Combines halves of rows by loads, and quarters by a shuffle; then transposes each quarter by
  // itself.
  TINYATTN_ALWAYS_INLINE static void load_transposed(const float* from, std::size_t stride,
                                                     vec (&square)[16]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t j = 0; j < 16; j += 8) {
      vec even[4], odd[4];
      TINYATTN_UNROLL
      for (std::size_t i = 0; i < 4; ++i) {
        const float* const row = from + i * stride + j;
        const vec a = halves(row, row + 4 * stride),
                  b = halves(row + 8 * stride, row + 12 * stride);
        even[i] = every_second_quarter<0>(a, b);
        odd[i] = every_second_quarter<1>(a, b);
      }
      transpose_quarters(even, square + j);
      transpose_quarters(odd, square + j + 4);
    }
  }

 private:
  using indices = std::make_index_sequence<16>;

  TINYATTN_ALWAYS_INLINE static vec halves(const float* low, const float* high) noexcept {
    return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      return __builtin_shufflevector(half::load(low), half::load(high), Lane...);
    }
    (indices{});
  }
  template <std::size_t First>
  TINYATTN_ALWAYS_INLINE static vec every_second_quarter(vec a, vec b) noexcept {
    return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      return __builtin_shufflevector(a, b, (First * 4 + Lane / 4 * 8 + Lane % 4)...);
    }
    (indices{});
  }
  // Alternates floats (Size 1) or pairs (Size 2) of a and b: from the first half of each quarter if
  // Half is 0, else from the second.
  template <std::size_t Size, std::size_t Half>
  TINYATTN_ALWAYS_INLINE static vec by_turns(vec a, vec b) noexcept {
    return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      return __builtin_shufflevector(a, b,
                                     (Lane / 4 * 4 + Half * 2 + Lane % 4 / (2 * Size) * Size +
                                      Lane / Size % 2 * 16 + Lane % Size)...);
    }
    (indices{});
  }
  TINYATTN_ALWAYS_INLINE static void transpose_quarters(const vec (&rows)[4], vec* to) noexcept {
    const vec low_a = by_turns<1, 0>(rows[0], rows[1]), low_b = by_turns<1, 0>(rows[2], rows[3]),
              high_a = by_turns<1, 1>(rows[0], rows[1]), high_b = by_turns<1, 1>(rows[2], rows[3]);
    to[0] = by_turns<2, 0>(low_a, low_b);
    to[1] = by_turns<2, 1>(low_a, low_b);
    to[2] = by_turns<2, 0>(high_a, high_b);
    to[3] = by_turns<2, 1>(high_a, high_b);
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
