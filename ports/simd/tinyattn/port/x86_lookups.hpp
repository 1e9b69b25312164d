// SPDX-License-Identifier: MIT
//
// Eight integers of AVX2: look-ups in small tables, shifts of each lane by its own count, and bytes
// that become integers.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if defined(__AVX2__)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct avx2_lookups {
  using words [[gnu::vector_size(32)]] = std::int32_t;
  using unsigned_words [[gnu::vector_size(32)]] = std::uint32_t;

  TINYATTN_ALWAYS_INLINE static words load_bytes(const std::uint8_t* from, std::size_t n) noexcept {
    long long bytes = 0;
    if (n == 8)
      __builtin_memcpy(&bytes, from, 8);
    else
      while (n != 0) bytes = bytes << 8 | from[--n];
    return reinterpret_cast<words>(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes)));
  }
  TINYATTN_ALWAYS_INLINE static words shift_right(words v, words counts) noexcept {
    return reinterpret_cast<words>(
        _mm256_srav_epi32(reinterpret_cast<__m256i>(v), reinterpret_cast<__m256i>(counts)));
  }
  TINYATTN_ALWAYS_INLINE static unsigned_words shift_right(unsigned_words v,
                                                           unsigned_words counts) noexcept {
    return reinterpret_cast<unsigned_words>(
        _mm256_srlv_epi32(reinterpret_cast<__m256i>(v), reinterpret_cast<__m256i>(counts)));
  }
  TINYATTN_ALWAYS_INLINE static words look_up_of_8(const std::int32_t* table,
                                                   words index) noexcept {
    return reinterpret_cast<words>(
        _mm256_permutevar8x32_epi32(load(table), reinterpret_cast<__m256i>(index)));
  }
  TINYATTN_ALWAYS_INLINE static words look_up_of_32(const std::uint32_t* table,
                                                    words index) noexcept {
    const auto at = reinterpret_cast<__m256i>(index);
#if defined(__AVX512VL__)
    const __m256i low = _mm256_permutex2var_epi32(load(table), at, load(table + 8));
    const __m256i high = _mm256_permutex2var_epi32(load(table + 16), at, load(table + 24));
    return reinterpret_cast<words>(
        _mm256_mask_blend_epi32(_mm256_movepi32_mask(_mm256_slli_epi32(at, 27)), low, high));
#else
    const auto of_8 = [at, table](std::size_t first) TINYATTN_INLINE_LAMBDA {
      return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(table + first), at));
    };
    const __m256 by_8 = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)),
                 by_16 = _mm256_castsi256_ps(_mm256_slli_epi32(at, 27));
    const __m256 low = _mm256_blendv_ps(of_8(0), of_8(8), by_8),
                 high = _mm256_blendv_ps(of_8(16), of_8(24), by_8);
    return reinterpret_cast<words>(_mm256_blendv_ps(low, high, by_16));
#endif
  }

 private:
  TINYATTN_ALWAYS_INLINE static __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
