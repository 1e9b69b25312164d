// SPDX-License-Identifier: MIT
//
// The natural logarithm of a float, on one lane: the same bits on every port, without libm.
#pragma once

#include "tinyattn/port/elementwise.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {
namespace elementwise {

// x = 2^n (1 + f) with 1 + f from sqrt(1/2) to sqrt(2); log(1 + f) = f + f^2 (f q(f) - 1/2). The
// coefficients of q are tests/ports/arithmetic/coefficients.py's: a minimax fit, rounded from the
// lowest power on.
inline constexpr float log_coefficients[] = {-0x1.3aec60p-4f, 0x1.04fb92p-3f,  -0x1.0ce390p-3f,
                                             0x1.22dd98p-3f,  -0x1.5483ecp-3f, 0x1.99a058p-3f,
                                             -0x1.0001e8p-2f, 0x1.555554p-2f};

// Returns the logarithm of x, within one unit in the last place: -infinity for a zero, NaN below.
// ln 2 is in two parts; n times the first is exact. n becomes a float by its bits: for a
// conversion, GCC 12 for Helium emits an instruction that the assembler rejects.
template <class Port>
constexpr float log(float x) noexcept {
  auto bits = __builtin_bit_cast(std::uint32_t, x);
  constexpr std::uint32_t infinite = 0x7f800000, root_of_half = 0x3f3504f3, of_integer = 0x4b400000;
  if (bits - 1 >= infinite - 1) {  // a zero, infinity, NaN or negative
    if (bits << 1 == 0) return -infinity;
    return bits == infinite ? x : __builtin_nanf("");
  }
  std::uint32_t shift = 0;
  if (bits < 0x00800000) {  // a subnormal
    bits = __builtin_bit_cast(std::uint32_t, Port::mul(x, 0x1p23f));
    shift = 23;
  }
  const std::uint32_t exponent = (bits - root_of_half + infinite) >> 23;  // n + 255
  const std::uint32_t integer = of_integer + exponent - 255 - shift;
  const float n = Port::add(__builtin_bit_cast(float, integer), -0x1.8p23f);
  const std::uint32_t reduced = bits - (exponent << 23) + infinite;
  const float f = Port::add(__builtin_bit_cast(float, reduced), -1.0f);
  const float t = Port::fma(polynomial<Port>(f, log_coefficients), f, -0.5f);
  const float low = Port::fma(Port::mul(f, f), t, Port::mul(n, 0x1.7f7d1cp-20f));
  return Port::fma(n, 0x1.62e4p-1f, Port::add(low, f));
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::elementwise

TINYATTN_END
