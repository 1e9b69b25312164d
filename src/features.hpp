// SPDX-License-Identifier: MIT
//
// The features beyond the baseline of x86-64 that the compiler may use in this translation unit,
// and that a processor must therefore have to run it.
#pragma once

#include <initializer_list>

namespace tinyattn::compiled {

// F(name of a feature, after -m and for __builtin_cpu_supports; macro that is 1 if the compiler may
// use it)
#define TINYATTN_FEATURES(F)  \
  F("sse3", __SSE3__)         \
  F("ssse3", __SSSE3__)       \
  F("sse4.1", __SSE4_1__)     \
  F("sse4.2", __SSE4_2__)     \
  F("popcnt", __POPCNT__)     \
  F("avx", __AVX__)           \
  F("avx2", __AVX2__)         \
  F("fma", __FMA__)           \
  F("bmi", __BMI__)           \
  F("bmi2", __BMI2__)         \
  F("avx512f", __AVX512F__)   \
  F("avx512bw", __AVX512BW__) \
  F("avx512cd", __AVX512CD__) \
  F("avx512dq", __AVX512DQ__) \
  F("avx512vl", __AVX512VL__)

// Returns a bit for each feature, set if the feature is there.
constexpr unsigned bits(std::initializer_list<bool> features) noexcept {
  unsigned all = 0;
  for (const bool one : features) all = all << 1 | unsigned{one};
  return all;
}

// The first character tells whether a macro is defined as 1: one that is not defined expands to its
// own name.
#define TINYATTN_TEXT_OF(expanded) #expanded
#define TINYATTN_IS_USED(name, macro) TINYATTN_TEXT_OF(macro)[0] == '1',
static constexpr unsigned features_of_this_unit = bits({TINYATTN_FEATURES(TINYATTN_IS_USED)});
#undef TINYATTN_IS_USED

}  // namespace tinyattn::compiled
