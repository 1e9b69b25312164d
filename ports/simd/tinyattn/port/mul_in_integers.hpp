// SPDX-License-Identifier: MIT
//
// A rounded product for a core with neither an FPU nor 64-bit products (Cortex-M0): fewer
// instructions than the compiler's run-time library, which handles all but normal numbers.
#pragma once

#include "tinyattn/port/fma_in_integers.hpp"
#include "tinyattn/port/rounded.hpp"

#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

// a * b, rounded once.
[[gnu::noinline]] constexpr float multiply_in_integers(float a, float b) noexcept {
  const auto a_bits = __builtin_bit_cast(std::uint32_t, a);
  const auto b_bits = __builtin_bit_cast(std::uint32_t, b);
  const unpacked x = unpack_normal(a_bits), y = unpack_normal(b_bits);
  if (!is_normal(x) || !is_normal(y)) [[unlikely]]
    return rounded(a * b);
  const std::uint64_t product = multiply_in_halves(x.mantissa, y.mantissa);
  std::uint32_t high = high_word(product), low = low_word(product);
  std::uint32_t below = x.exponent + y.exponent - 127;  // the exponent minus the implicit bit
  if (high < hidden_bit) {
    high = (high << 1) | (low >> 31);
    low <<= 1;
    --below;
  }
  if (below >= 253) [[unlikely]]
    return rounded(a * b);
  std::uint32_t mantissa = high + (low >> 31);
  if (low == sign_bit) mantissa &= ~1u;
  return __builtin_bit_cast(float, ((a_bits ^ b_bits) & sign_bit) | (mantissa + (below << 23)));
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
