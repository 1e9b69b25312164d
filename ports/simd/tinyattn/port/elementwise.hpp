// SPDX-License-Identifier: MIT
//
// Exponential and quotient, and functions that are computed from them, for the vectors of any port:
// the same bits in every lane of every port, without libm.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {
namespace elementwise {

inline constexpr float infinity = __builtin_inff();

// e^x = power * 2^n. `shifted` is n + round_to_integer (below), whose low bits are the biased
// exponent of 2^n.
template <class Port>
struct exponential {
  typename Port::vec power;
  typename Port::vec n;
  typename Port::vec shifted;
};

// Adding this to a small float rounds it to the nearest integer. It is 1.5 * 2^23 plus the exponent
// bias, so that the sum's low bits are the exponent of 2^n. The addend is odd, which would change
// only the rounding halfway between two integers; x * log2(e) never lies there.
inline constexpr float round_to_integer = 0x1.8p23f + 127.0f;

// x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts; e^r = 1 + r (1 + r q(r)). The
// coefficients of q are tests/ports/arithmetic/coefficients.py's: a minimax fit, then the
// neighbours in float with the least worst case.
inline constexpr float exp_coefficients[] = {0x1.124cp-7f, 0x1.555654p-5f, 0x1.555472p-3f,
                                             0.5f,         1.0f,           1.0f};
inline constexpr std::size_t exp_degree = 6;

// Loads the coefficients into registers, for one evaluation only: a single lane's fma overwrites
// its addend with the sum.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void load_coefficients(auto(&row)[exp_degree]) noexcept {
  if constexpr (Port::lanes == 1) {
    Port::load_row(exp_coefficients, row);
  } else {
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < exp_degree; ++i) row[i] = Port::broadcast(exp_coefficients[i]);
  }
}

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr exponential<Port> reduce_exponent(typename Port::vec x) noexcept {
  const auto shifted = Port::fma(Port::broadcast(0x1.715476p+0f), x, Port::splat(round_to_integer));
  const auto n = Port::add(shifted, Port::broadcast(-round_to_integer));
  auto r = Port::fma(Port::broadcast(-0x1.62e430p-1f), n, x);
  r = Port::fma(Port::broadcast(0x1.05c610p-29f), n, r);
  typename Port::broadcast_operand coefficients[exp_degree];
  load_coefficients<Port>(coefficients);
  auto power = Port::splat(0x1.6bbdbep-10f);
  TINYATTN_UNROLL
  for (std::size_t i = 0; i < exp_degree; ++i) power = Port::fma(power, r, coefficients[i]);
  return {power, n, shifted};
}

// The argument for which exp_of_nonpositive returns 0: its n is -127, and the biased exponent of
// 2^n is 0.
inline constexpr float exp_is_zero = -88.0f;

// Returns e^x for -87 <= x <= 0, and 0 for x = exp_is_zero; a NaN stays one.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec exp_of_nonpositive(
    typename Port::vec x) noexcept {
  if constexpr (requires { Port::exp_of_nonpositive(x); }) {
    return Port::exp_of_nonpositive(x);
  } else {
    const auto e = reduce_exponent<Port>(x);
    return Port::mul(e.power, Port::exponent_bits(e.shifted));
  }
}

// Constants of softmax for ports that compute its exponentials: the exponent below which they are
// 0, log2(e), the negative of 1.5 * 2^23, -ln 2 in two parts, the polynomial, and 1.5 * 2^23, whose
// addition rounds to an integer.
inline constexpr float exp_numbers[] = {-69.0f,
                                        0x1.715476p+0f,
                                        -0x1.8p23f,
                                        -0x1.62e430p-1f,
                                        0x1.05c610p-29f,
                                        0x1.6bbdbep-10f,
                                        exp_coefficients[0],
                                        exp_coefficients[1],
                                        exp_coefficients[2],
                                        exp_coefficients[3],
                                        exp_coefficients[4],
                                        exp_coefficients[5],
                                        0x1.8p23f};

// Returns e^x for every x. Multiplies by 2^n in two steps, since 2^n itself may not be a float.
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

// --- Functions computed from these ---

// Returns a / b, rounded once; lane by lane if a port has no vector division.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec quotient(typename Port::vec a,
                                                             typename Port::vec b) noexcept {
  if constexpr (requires { Port::divide(a, b); }) {
    return Port::divide(a, b);
  } else {
    float quotients[Port::lanes], divisors[Port::lanes];
    Port::store(quotients, a);
    Port::store(divisors, b);
    for (std::size_t q = 0; q < Port::lanes; ++q)
      quotients[q] = Port::one_lane::divide(quotients[q], divisors[q]);
    return Port::load(quotients);
  }
}

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec negative(typename Port::vec x) noexcept {
  return Port::mul(x, Port::broadcast(-1.0f));
}

// Returns |x|, except that -0 and NaN stay as they are.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec magnitude(typename Port::vec x) noexcept {
  return Port::select_less(x, Port::splat(0.0f), negative<Port>(x), x);
}

// Returns -|x|, except that a zero may have either sign.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec negative_magnitude(
    typename Port::vec x) noexcept {
  if constexpr (requires { Port::negative_magnitude(x); })
    return Port::negative_magnitude(x);
  else
    return Port::select_less(x, Port::splat(0.0f), x, negative<Port>(x));
}

// Returns x, or `most` if x is more; a NaN stays one.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec at_most(float most,
                                                            typename Port::vec x) noexcept {
  return Port::select_less(Port::splat(most), x, Port::splat(most), x);
}

// Returns 1 / (1 + e^-x), from e^-|x|. It is 0 below -86: e^x would soon be subnormal.
template <class Port>
constexpr typename Port::vec sigmoid(typename Port::vec x) noexcept {
  const auto size = negative_magnitude<Port>(x);
  const auto e = exp_of_nonpositive<Port>(
      Port::select_less(size, Port::splat(-86.0f), Port::splat(exp_is_zero), size));
  const auto share = Port::select_less(x, Port::splat(0.0f), e, Port::splat(1.0f));
  return quotient<Port>(share, Port::add(e, Port::broadcast(1.0f)));
}

// Evaluates a polynomial at x; the coefficient of the highest power comes first.
template <class Port, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec polynomial(
    typename Port::vec x, const float (&coefficients)[Count]) noexcept {
  auto sum = Port::splat(coefficients[0]);
  TINYATTN_UNROLL_FOR_SPEED
  for (std::size_t i = 1; i < Count; ++i) sum = Port::fma(sum, x, Port::broadcast(coefficients[i]));
  return sum;
}

// Returns the value at x of an odd function, given its `value` at |x|. Zeros and NaN stay as they
// are.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr typename Port::vec with_sign_of(
    typename Port::vec x, typename Port::vec value) noexcept {
  const auto zero = Port::splat(0.0f);
  return Port::select_less(x, zero, negative<Port>(value), Port::select_less(zero, x, value, x));
}

// Coefficients from here on are minimax fits of tests/ports/arithmetic/coefficients.py, rounded
// from the lowest power on.

// tanh(x) = x + x z p(z) with z = x^2, up to |x| = 1.
inline constexpr float tanh_coefficients[] = {-0x1.7a2414p-12f, 0x1.2eb37ep-9f,  -0x1.04c2dep-7f,
                                              0x1.602c72p-6f,   -0x1.b9685ep-5f, 0x1.110c24p-3f,
                                              -0x1.55553ep-2f};

// tanh is 1 - 2 / (e^2x + 1) from x = 1 on, and rounds to 1 beyond 10.
template <class Port>
constexpr typename Port::vec tanh(typename Port::vec x) noexcept {
  const auto one = Port::splat(1.0f), size = at_most<Port>(10.0f, magnitude<Port>(x));
  const auto square = Port::mul(size, size);
  const auto slope = Port::mul(square, polynomial<Port>(square, tanh_coefficients));
  const auto e = reduce_exponent<Port>(Port::add(size, size));
  const auto sum = Port::fma(e.power, Port::exponent_bits(e.shifted), one);
  const auto beyond = Port::add(one, quotient<Port>(Port::splat(-2.0f), sum));
  const auto near_zero = Port::fma(slope, size, size);
  return with_sign_of<Port>(x, Port::select_less(size, one, near_zero, beyond));
}

// erf(x) = x + x p(x^2) up to |x| = 1; from there on c + u q(u), u the distance from a middle whose
// erf, c, is nearly a float. 1 beyond 3.93.
inline constexpr float erf_coefficients[] = {0x1.4b216cp-14f, -0x1.a4b1eap-11f, 0x1.542406p-8f,
                                             -0x1.b7fdacp-6f, 0x1.ce2d4ap-4f,   -0x1.812740p-2f,
                                             0x1.06eba8p-3f};
inline constexpr float far_erf_coefficients[] = {
    -0x1.8453fcp-22f, 0x1.c809f6p-20f,  0x1.bc0d20p-21f, -0x1.5345cap-16f, 0x1.5539dap-15f,
    0x1.6282f2p-15f,  -0x1.71af70p-12f, 0x1.620836p-11f, -0x1.14c962p-18f, -0x1.99bbecp-9f,
    0x1.216cecp-7f,   -0x1.d2185cp-7f,  0x1.ef6e0cp-7f,  -0x1.5bc84ap-7f,  0x1.280892p-8f};
inline constexpr float far_erf_middle = 2.349609375f, erf_of_middle = 0x1.ff8b36p-1f;

template <class Port>
constexpr typename Port::vec erf(typename Port::vec x) noexcept {
  const auto size = at_most<Port>(3.93f, magnitude<Port>(x));
  const auto slope = polynomial<Port>(Port::mul(size, size), erf_coefficients);
  const auto near_zero = Port::fma(slope, size, size);
  const auto from_middle = Port::add(size, Port::broadcast(-far_erf_middle));
  const auto beyond = Port::fma(polynomial<Port>(from_middle, far_erf_coefficients), from_middle,
                                Port::splat(erf_of_middle));
  return with_sign_of<Port>(x, Port::select_less(size, Port::splat(1.0f), near_zero, beyond));
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::elementwise

TINYATTN_END
