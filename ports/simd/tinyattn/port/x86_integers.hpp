// SPDX-License-Identifier: MIT
//
// Sums of products of integers on x86, in vectors of 16 or of 32 bytes. Vectors of 64 bytes were no
// faster on Zen 4, but slower where a row is no multiple of 64 terms or not aligned. pmaddubsw,
// which multiplies bytes, would saturate.
#pragma once

#include "tinyattn/port/paired_integers.hpp"

#if defined(__SSE2__)

#if defined(__AVX2__)
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

namespace detail {

struct sse2_pairs {
  using vec = __m128i;
  TINYATTN_ALWAYS_INLINE static vec load(const void* from) noexcept {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const void* from, std::size_t) noexcept {
    return _mm_loadl_epi64(static_cast<const __m128i*>(from));
  }
  TINYATTN_ALWAYS_INLINE static void store(void* to, vec v) noexcept {
    _mm_storeu_si128(static_cast<__m128i*>(to), v);
  }
  TINYATTN_ALWAYS_INLINE static void store_n(void* to, vec v, std::size_t) noexcept {
    _mm_storel_epi64(static_cast<__m128i*>(to), v);
  }
  TINYATTN_ALWAYS_INLINE static vec narrow(vec a, vec b) noexcept { return _mm_packs_epi32(a, b); }
  TINYATTN_ALWAYS_INLINE static vec multiply(vec a, vec b) noexcept { return _mm_madd_epi16(a, b); }
  TINYATTN_ALWAYS_INLINE static vec multiply_add(vec sums, vec a, vec b) noexcept {
    return _mm_add_epi32(sums, multiply(a, b));
  }
  TINYATTN_ALWAYS_INLINE static void add_lanes(const vec (&sums)[8], std::uint32_t* to) noexcept {
    store(to, add_fours(sums[0], sums[1], sums[2], sums[3]));
    store(to + 4, add_fours(sums[4], sums[5], sums[6], sums[7]));
  }

 private:
  TINYATTN_ALWAYS_INLINE static vec add_fours(vec a, vec b, vec c, vec d) noexcept {
    const vec ab = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    const vec cd = _mm_add_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    return _mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd));
  }
};

#if defined(__AVX2__)
struct avx2_pairs {
  using vec = __m256i;
  TINYATTN_ALWAYS_INLINE static vec load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const void* from, std::size_t n) noexcept {
    return _mm256_maskload_epi32(
        static_cast<const int*>(from),
        _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                           _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)));
  }
  TINYATTN_ALWAYS_INLINE static void store(void* to, vec v) noexcept {
    _mm256_storeu_si256(static_cast<__m256i*>(to), v);
  }
  // Without a mask: such a store takes long, and a load of what it wrote has to wait.
  TINYATTN_ALWAYS_INLINE static void store_n(void* to, vec v, std::size_t n) noexcept {
    __m128i half = _mm256_castsi256_si128(v);
    if (n >= 16) {
      sse2_pairs::store(to, half);
      half = _mm256_extracti128_si256(v, 1);
    }
    if (n % 16 != 0) sse2_pairs::store_n(static_cast<char*>(to) + n / 16 * 16, half, 8);
  }
  TINYATTN_ALWAYS_INLINE static vec narrow(vec a, vec b) noexcept {
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  }
  TINYATTN_ALWAYS_INLINE static vec multiply(vec a, vec b) noexcept {
    return _mm256_madd_epi16(a, b);
  }
  // The instructions that add, too, make units with flags of their own: see compiler.hpp.
  TINYATTN_ALWAYS_INLINE static vec multiply_add(vec sums, vec a, vec b) noexcept {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm256_dpwssd_epi32(sums, a, b);
#elif defined(__AVXVNNI__) && !defined(__AVX512F__)
    return _mm256_dpwssd_avx_epi32(sums, a, b);
#else
    return _mm256_add_epi32(sums, multiply(a, b));
#endif
  }
  TINYATTN_ALWAYS_INLINE static void add_lanes(const vec (&sums)[8], std::uint32_t* to) noexcept {
    const vec low = add_fours(sums[0], sums[1], sums[2], sums[3]);
    const vec high = add_fours(sums[4], sums[5], sums[6], sums[7]);
    store(to, _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x21),
                               _mm256_blend_epi32(low, high, 0xf0)));
  }

 private:
  // The sums of a to d in the low half of each, then those in the high half.
  TINYATTN_ALWAYS_INLINE static vec add_fours(vec a, vec b, vec c, vec d) noexcept {
    const vec ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    const vec cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  }
};
#endif

}  // namespace detail

using sse2_integers = paired_integers<detail::sse2_pairs>;
#if defined(__AVX2__)
using avx2_integers = paired_integers<detail::avx2_pairs>;
#endif

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
