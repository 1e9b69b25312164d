// SPDX-License-Identifier: MIT
//
// Sums of products of integers on x86, in vectors of 16, 32 or 64 bytes. pmaddubsw, which
// multiplies bytes, would saturate; vpdpbusd would not, but takes longer than two vpdpwssd on Zen
// 5.
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
  static constexpr std::size_t tile_sums = 8;  // of 16 registers
  static constexpr std::size_t block_vectors = 0;
  static constexpr bool has_panels = false;
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
  TINYATTN_ALWAYS_INLINE static vec load_codes(const void* from) noexcept { return load(from); }
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
  static constexpr std::size_t tile_sums = 8;  // of 16 registers
  static constexpr std::size_t block_vectors = 0;
  static constexpr bool has_panels = false;
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
  // Without a mask: a masked store is slow, and a load of what it wrote has to wait.
  TINYATTN_ALWAYS_INLINE static void store_n(void* to, vec v, std::size_t n) noexcept {
    __m128i half = _mm256_castsi256_si128(v);
    if (n >= 16) {
      sse2_pairs::store(to, half);
      half = _mm256_extracti128_si256(v, 1);
    }
    if (n % 16 != 0) sse2_pairs::store_n(static_cast<char*>(to) + n / 16 * 16, half, 8);
  }
  // Loaded once: each load of codes that are not aligned to a vector may take two cycles.
  TINYATTN_ALWAYS_INLINE static vec load_codes(const void* from) noexcept {
    vec v = load(from);
    asm("" : "+x"(v));
    return v;
  }
  TINYATTN_ALWAYS_INLINE static vec narrow(vec a, vec b) noexcept {
    return _mm256_packs_epi32(a, b);
  }
  TINYATTN_ALWAYS_INLINE static vec multiply(vec a, vec b) noexcept {
    return _mm256_madd_epi16(a, b);
  }
  // Instructions that also add require units with flags of their own: see compiler.hpp.
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
  // The sums of a to d in the low half of each vector, then in the high half.
  TINYATTN_ALWAYS_INLINE static vec add_fours(vec a, vec b, vec c, vec d) noexcept {
    const vec ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    const vec cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  }
};
#endif

#if defined(__AVX512BW__)
struct avx512_pairs {
  using vec = __m512i;
  static constexpr std::size_t tile_sums = 16;  // of 32 registers
#if defined(__AVX512VNNI__)
  static constexpr std::size_t block_vectors = 8;  // 16 of 32 registers
#else
  static constexpr std::size_t block_vectors = 0;  // additions take what loads would gain
#endif
  static constexpr bool has_panels = true;
  TINYATTN_ALWAYS_INLINE static vec load(const void* from) noexcept {
    return _mm512_loadu_si512(from);
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const void* from, std::size_t n) noexcept {
    return _mm512_maskz_loadu_epi8((1ull << n) - 1, from);
  }
  TINYATTN_ALWAYS_INLINE static void store(void* to, vec v) noexcept { _mm512_storeu_si512(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(void* to, vec v, std::size_t n) noexcept {
    const auto words_of_v = reinterpret_cast<words>(v);
    auto half = __builtin_shufflevector(words_of_v, words_of_v, 0, 1, 2, 3, 4, 5, 6, 7);
    if (n >= 32) {
      avx2_pairs::store(to, reinterpret_cast<__m256i>(half));
      half = __builtin_shufflevector(words_of_v, words_of_v, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    avx2_pairs::store_n(static_cast<char*>(to) + n / 32 * 32, reinterpret_cast<__m256i>(half),
                        n % 32);
  }
  TINYATTN_ALWAYS_INLINE static vec load_codes(const void* from) noexcept {
    vec v = load(from);
    asm("" : "+v"(v));
    return v;
  }
  TINYATTN_ALWAYS_INLINE static vec narrow(vec a, vec b) noexcept {
    return _mm512_packs_epi32(a, b);
  }
  TINYATTN_ALWAYS_INLINE static vec multiply(vec a, vec b) noexcept {
    return _mm512_madd_epi16(a, b);
  }
  TINYATTN_ALWAYS_INLINE static vec multiply_add(vec sums, vec a, vec b) noexcept {
#if defined(__AVX512VNNI__)
    return _mm512_dpwssd_epi32(sums, a, b);
#else
    return _mm512_add_epi32(sums, multiply(a, b));
#endif
  }
  TINYATTN_ALWAYS_INLINE static void add_lanes(const vec (&sums)[16], std::uint32_t* to) noexcept {
    words rows[16];
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < 16; ++i) rows[i] = reinterpret_cast<words>(sums[i]);
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < 16; i += 2) rows[i / 2] = add_words(rows[i], rows[i + 1]);
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < 8; i += 2) rows[i / 2] = add_pairs(rows[i], rows[i + 1]);
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < 4; i += 2) rows[i / 2] = add_halves(rows[i], rows[i + 1]);
    store(to, reinterpret_cast<vec>(add_quarters(rows[0], rows[1])));
  }

 private:
  // GCC 12 warns of the intrinsics that shuffle.
  using words [[gnu::vector_size(64)]] = std::int32_t;
  TINYATTN_ALWAYS_INLINE static words add_words(words a, words b) noexcept {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
           __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15,
                                   31);
  }
  TINYATTN_ALWAYS_INLINE static words add_pairs(words a, words b) noexcept {
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
           __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30,
                                   31);
  }
  TINYATTN_ALWAYS_INLINE static words add_halves(words a, words b) noexcept {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                   31);
  }
  TINYATTN_ALWAYS_INLINE static words add_quarters(words a, words b) noexcept {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30,
                                   31);
  }
};
#endif

}  // namespace detail

using sse2_integers = paired_integers<detail::sse2_pairs>;
#if defined(__AVX2__)
using avx2_integers = paired_integers<detail::avx2_pairs>;
#endif
#if defined(__AVX512BW__)
using avx512_integers = paired_integers<detail::avx512_pairs>;
#elif defined(__AVX512F__)
using avx512_integers = avx2_integers;
#endif

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
