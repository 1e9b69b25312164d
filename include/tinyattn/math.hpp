// SPDX-License-Identifier: MIT
//
// fma, exp and sqrt of a float: the same bits in the compiler and on every target, without libm.
#pragma once

#include "tinyattn/port/native.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"

#include <cstddef>
#include <limits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE {

namespace detail {

// 1 / sqrt(N), correctly rounded: the scale of the scores, and the bound of a Linear's first
// weights. A constant of the program.
template <std::size_t N>
inline constexpr float inverse_sqrt = port::detail::inverse_sqrt_in_integers(N);

}  // namespace detail

// The square root of x, correctly rounded, in integers on every target; NaN below zero, -0 for -0.
constexpr float sqrt(float x) noexcept { return port::detail::sqrt_in_integers(x); }

namespace kernel {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

// e^x = power * 2^n, with round_to_integer + n in `shifted`.
template <class Port>
struct Exponential {
  typename Port::vec power;
  typename Port::vec n;
  typename Port::vec shifted;
};

// Added to a small float it rounds it to the nearest integer: 1.5 * 2^23, and the bias of an
// exponent, so that the low bits of the sum are that of 2^n. Half-way between two integers, where
// an odd addend would show, no x * log2(e) lies.
inline constexpr float round_to_integer = 0x1.8p23f + 127.0f;

// x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts; e^r = 1 + r (1 + r q(r)). The
// coefficients of q are tests/reference/exp_coefficients.py's: a minimax fit, then the neighbours
// in float with the least worst case.
inline constexpr float exp_coefficients[] = {0x1.124cp-7f, 0x1.555654p-5f, 0x1.555472p-3f,
                                             0.5f,         1.0f,           1.0f};
inline constexpr std::size_t exp_degree = 6;

// The coefficients in registers, for one evaluation. The fma of a single lane writes its sum over
// the addend, which is lost.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void load_coefficients(auto(&row)[exp_degree]) noexcept {
  if constexpr (Port::lanes == 1) {
    Port::load_row(exp_coefficients, row);
  } else {
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < exp_degree; ++i) row[i] = Port::factor_of(exp_coefficients[i]);
  }
}

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr Exponential<Port> reduce_exponent(typename Port::vec x) noexcept {
  const auto shifted = Port::fma(Port::factor_of(0x1.715476p+0f), x, Port::splat(round_to_integer));
  const auto n = Port::add(shifted, Port::factor_of(-round_to_integer));
  auto r = Port::fma(Port::factor_of(-0x1.62e430p-1f), n, x);
  r = Port::fma(Port::factor_of(0x1.05c610p-29f), n, r);
  typename Port::factor coefficients[exp_degree];
  load_coefficients<Port>(coefficients);
  auto power = Port::splat(0x1.6bbdbep-10f);
  TINYATTN_UNROLL
  for (std::size_t i = 0; i < exp_degree; ++i) power = Port::fma(power, r, coefficients[i]);
  return {power, n, shifted};
}

// e^x for -87 <= x <= 0, and 0 for x = exp_is_zero, where n = -127 leaves no bit of the power of
// two; a NaN stays one.
inline constexpr float exp_is_zero = -88.0f;

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec exp_of_nonpositive(
    typename Port::vec x) noexcept {
  const auto e = reduce_exponent<Port>(x);
  return Port::mul(e.power, Port::exponent_bits(e.shifted));
}

// e^x for every x. 2^n is multiplied in two halves, since 2^n alone need not be a float.
template <class Port>
constexpr typename Port::vec exp(typename Port::vec x) noexcept {
  const auto smallest = Port::splat(-104.0f);       // below, e^x rounds to 0
  const auto largest = Port::splat(0x1.62e42ep6f);  // above, e^x rounds to infinity
  const auto clamped =
      Port::select_less(largest, x, largest, Port::select_less(x, smallest, smallest, x));
  const auto e = reduce_exponent<Port>(clamped);
  const auto shift = Port::splat(round_to_integer);
  const auto half = Port::fma(e.n, Port::splat(0.5f), shift);
  const auto other_half =
      Port::add(Port::add(e.n, shift), Port::fma(half, Port::splat(-1.0f), shift));
  const auto value =
      Port::mul(Port::mul(e.power, Port::exponent_bits(half)), Port::exponent_bits(other_half));
  return Port::select_less(largest, x, Port::splat(infinity), value);
}

}  // namespace kernel

// a * b + c, rounded once.
constexpr float fma(float a, float b, float c) noexcept {
  return on_native_port([=](auto port) { return decltype(port)::one_lane::fma(a, b, c); });
}

// e^x within one unit in the last place; 0 below -104, infinity above 88.73.
constexpr float exp(float x) noexcept {
  return on_native_port(
      [=](auto port) { return kernel::exp<typename decltype(port)::one_lane>(x); });
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE

TINYATTN_END
