// SPDX-License-Identifier: MIT
//
// The roof: the most floating-point operations that a core can do, multiply-adds in registers and nothing else. Compiled with
// -ffp-contract=fast, so that a product and a sum of whole vectors become one instruction.
#pragma once

#include <cstddef>

namespace tinyattn::bench {

#if defined(__AVX512F__)
inline constexpr std::size_t lanes = 16;
#elif defined(__AVX__)
inline constexpr std::size_t lanes = 8;
#else
inline constexpr std::size_t lanes = 4;
#endif
using Vector [[gnu::vector_size(lanes * sizeof(float))]] = float;

// Enough accumulators for two units with a latency of four to six cycles; with the two constants they fit into sixteen registers.
inline constexpr std::size_t accumulators = 12;

// Volatile, so that the compiler cannot compute a sum in advance.
inline volatile float factor = 0.5f, addend = 1.0f, result;

// Returns the number of floating-point operations done.
[[gnu::noinline]] inline double multiply_add_in_registers(std::size_t times) {
  const Vector factors = Vector{} + factor;
  const Vector addends = Vector{} + addend;
  Vector sums[accumulators];
#pragma GCC unroll 12
  for (Vector& sum : sums) sum = Vector{} + addend;  // separate reads: the compiler would merge equal sums
  for (std::size_t i = 0; i < times; ++i) {
#pragma GCC unroll 12
    for (Vector& sum : sums) sum = sum * factors + addends;
  }
#pragma GCC unroll 12
  for (const Vector& sum : sums) result = sum[0];
  return 2.0 * lanes * accumulators * static_cast<double>(times);
}

}  // namespace tinyattn::bench
