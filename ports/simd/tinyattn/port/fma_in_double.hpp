// SPDX-License-Identifier: MIT
//
// fma in double, for machines without a fused multiply-add and for constant expressions: rounded
// once, the bits of a hardware fma for every operand except for the sign and payload of a NaN.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

// Returns product + addend rounded to odd, for sums whose last bit is 0, where a second rounding,
// to float, could go wrong. Computes the error of the sum (Knuth's two-sum). If it is not 0, the
// exact value lies between two doubles, and the one whose last bit is 1 is returned. The second
// rounding then sees on which side of a tie the exact value lies (Boldo and Melquiond, "Emulation
// of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). Not for
// infinities, for which the error is NaN.
TINYATTN_ALWAYS_INLINE constexpr double add_to_odd(double product, double addend) noexcept {
  const double sum = product + addend;
  const double addend_in_sum = sum - product;
  const double error = (product - (sum - addend_in_sum)) + (addend - addend_in_sum);
  constexpr double zero = 0.0;
  if (error == zero) return sum;
  const bool away_from_zero = (error > zero) == (sum > zero);
  return __builtin_bit_cast(
      double, __builtin_bit_cast(std::uint64_t, sum) + (away_from_zero ? 1u : ~std::uint64_t{0}));
}

// Whether a sum may be rounded once more, to float: it is infinite, NaN, or neither a float nor
// halfway between two, since its low 28 bits are not all zero. Also false for some subnormals that
// could be rounded.
TINYATTN_ALWAYS_INLINE constexpr bool may_be_rounded(std::uint64_t bits) noexcept {
  return (bits & 0x0fffffff) != 0 || (bits & 0x7ff0000000000000) == 0x7ff0000000000000;
}

// a * b + c, rounded once. The product of two floats is exact in double; their sum with c is not,
// but rounding it again, to float, is right unless it is a float or halfway between two,
// subnormal ones included: then its low 28 bits are zero.
//
// No contraction can change a bit: the only product is exact, so that fusing it with an addition
// rounds the same number once.
TINYATTN_ALWAYS_INLINE constexpr float fma_in_double(float a, float b, float c) noexcept {
  // One declaration: Clang counts the statements of a constant expression.
  const double product = static_cast<double>(a) * static_cast<double>(b),
               sum = product + static_cast<double>(c);
  return may_be_rounded(__builtin_bit_cast(std::uint64_t, sum))
             ? static_cast<float>(sum)
             : static_cast<float>(add_to_odd(product, static_cast<double>(c)));
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
