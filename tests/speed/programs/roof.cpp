// SPDX-License-Identifier: MIT
//
// The roof. Compiled with -ffp-contract=fast, so that a product and a sum of whole vectors are one instruction.
#include "roof.hpp"

namespace tinyattn::bench {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t lanes = 16;
#elif defined(__AVX__)
constexpr std::size_t lanes = 8;
#else
constexpr std::size_t lanes = 4;
#endif
using Vector [[gnu::vector_size(lanes * sizeof(float))]] = float;

// Enough to fill two units of a latency of four to six; with the two constants they fit into sixteen registers.
constexpr std::size_t accumulators = 12;

// Unknown to the compiler, so that it can foresee no sum.
volatile float factor = 0.5f;
volatile float addend = 1.0f;
volatile float result;

}  // namespace

double multiply_add_in_registers(std::size_t times) {
  const Vector factors = Vector{} + factor;
  const Vector addends = Vector{} + addend;
  Vector sums[accumulators];
#pragma GCC unroll 12
  for (std::size_t k = 0; k < accumulators; ++k) sums[k] = Vector{} + addend;  // each read for itself: equal sums would become one
  for (std::size_t i = 0; i < times; ++i) {
#pragma GCC unroll 12
    for (std::size_t k = 0; k < accumulators; ++k) sums[k] = sums[k] * factors + addends;
  }
#pragma GCC unroll 12
  for (std::size_t k = 0; k < accumulators; ++k) result = sums[k][0];
  return 2.0 * lanes * accumulators * static_cast<double>(times);
}

}  // namespace tinyattn::bench
