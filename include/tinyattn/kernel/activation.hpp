// SPDX-License-Identifier: MIT
//
// The activations of a feed-forward layer, element by element.
#pragma once

#include "tinyattn/activation_list.h"
#include "tinyattn/kernel/row.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto relu(typename Port::vec x) noexcept {
  return Port::select_less(x, Port::splat(0.0f), Port::splat(0.0f), x);
}

// Replaces an exponent below -86 by one whose exponential is 0. For all other exponents no product
// in this file is subnormal.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto cut_off(typename Port::vec x) noexcept {
  return Port::select_less(x, Port::splat(-86.0f), Port::splat(exp_is_zero), x);
}

// Returns x / (1 + e^-u) for a u of x's sign, from e = e^-|u|. `bounded` takes the place of x below
// 0: it equals x, or is any finite number where e is 0.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto logistic(typename Port::vec x, typename Port::vec bounded,
                                               typename Port::vec e) noexcept {
  const auto share = Port::select_less(x, Port::splat(0.0f), Port::mul(bounded, e), x);
  return quotient<Port>(share, Port::add(e, Port::broadcast(1.0f)));
}

// x / (1 + e^-x).
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto silu(typename Port::vec x) noexcept {
  const auto exponent = cut_off<Port>(negative_magnitude<Port>(x));
  return logistic<Port>(x, exponent, exp_of_nonpositive<Port>(exponent));
}

// What gelu_tanh is made of, and its derivative: -|x|, but at least -13; -x^2; and e^-2|u|.
template <class Port>
struct GeluTanhParts {
  typename Port::vec below, square, e;
};

// u = sqrt(2 / pi) (x + 0.044715 x^3). Each constant is the sum of two floats, and so is 2u: the
// rounding errors are computed and corrected for. `linear` has few bits, so that adding it to the
// rounded `factor` is exact.
template <class Port>
TINYATTN_KERNEL auto gelu_tanh_parts(typename Port::vec x) noexcept {
  constexpr float linear = 0x1.98845p+0f, linear_low = 0x1.9ea1b2p-23f;
  const auto cubic = Port::broadcast(0x1.2444f2p-4f), cubic_low = Port::broadcast(0x1.49b16ap-29f);
  const auto size = at_most<Port>(13.0f, magnitude<Port>(x)), below = negative<Port>(size);
  const auto square = Port::mul(size, below);  // at most 0, and so are `factor` and `exponent`
  const auto factor = Port::fma(cubic, square, Port::splat(-linear));
  const auto square_error = Port::fma(size, below, negative<Port>(square));
  auto error = Port::fma(cubic, square, negative<Port>(Port::add(factor, Port::broadcast(linear))));
  error = Port::fma(cubic, square_error, Port::add(error, Port::broadcast(-linear_low)));
  error = Port::fma(cubic_low, square, error);
  const auto exponent = Port::mul(size, factor);
  const auto exponent_error =
      Port::fma(size, error, Port::fma(size, factor, negative<Port>(exponent)));
  const auto e = exp_of_nonpositive<Port>(cut_off<Port>(exponent));
  return GeluTanhParts<Port>{below, square, Port::fma(e, exponent_error, e)};
}

// x / (1 + e^-2u).
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto gelu_tanh(typename Port::vec x) noexcept {
  const auto parts = gelu_tanh_parts<Port>(x);
  return logistic<Port>(x, parts.below, parts.e);
}

// -|x| Phi(-|x|) e^(x^2 / 2) = v p(v), v = |x| / (|x| + 3.5), Phi the normal distribution. The
// coefficients are those of tests/ports/arithmetic/coefficients.py.
inline constexpr float gelu_offset = 3.5f;
inline constexpr float gelu_coefficients[] = {
    -0x1.e9ae5cp-5f, 0x1.442ef6p-3f, -0x1.05147ap-5f, -0x1.525584p-3f, -0x1.74fb6ep-3f,
    0x1.ea093ap-2f,  0x1.6bec02p-1f, -0x1.58ec04p+1f, 0x1.918aa8p+1f,  -0x1.c00000p+0f};

// What gelu is made of, and its derivative: |x|, but at most 14; v; p(v); -|x| Phi(-|x|) e^(x^2 /
// 2) and e^(-x^2 / 2), of which the first corrects for the rounded square of the second.
template <class Port>
struct GeluParts {
  typename Port::vec size, v, p, tail, e;
};

template <class Port>
TINYATTN_KERNEL auto gelu_parts(typename Port::vec x) noexcept {
  const auto size = at_most<Port>(14.0f, magnitude<Port>(x));
  const auto half = Port::mul(size, Port::broadcast(-0.5f)), exponent = Port::mul(half, size);
  const auto error = Port::fma(half, size, negative<Port>(exponent));
  const auto v = quotient<Port>(size, Port::add(size, Port::broadcast(gelu_offset)));
  const auto p = polynomial<Port>(v, gelu_coefficients), tail = Port::mul(v, p);
  const auto corrected = Port::fma(tail, error, tail);
  return GeluParts<Port>{size, v, p, corrected, exp_of_nonpositive<Port>(cut_off<Port>(exponent))};
}

// Returns x Phi(x) = relu(x) - |x| Phi(-|x|).
template <class Port>
TINYATTN_KERNEL auto gelu_of_parts(typename Port::vec x, const auto& parts) noexcept {
  return Port::fma(parts.tail, parts.e, relu<Port>(x));
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto gelu(typename Port::vec x) noexcept {
  return gelu_of_parts<Port>(x, gelu_parts<Port>(x));
}

// Calls use(apply), where apply(x) is the activation of a vector. Does nothing for a number that
// names no activation. If the activation is a constant, the others leave no code.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void with_activation(Activation activation,
                                                      const auto& use) noexcept {
#define TINYATTN_CASE(name, NAME, formula) \
  case Activation::name:                   \
    return use([](auto x) { return name<Port>(x); });
  switch (activation) { TINYATTN_ACTIVATIONS(TINYATTN_CASE) }
#undef TINYATTN_CASE
}

// The number of activations. An enumeration may hold any number, so callers compare with this one.
#define TINYATTN_ONE_MORE(name, NAME, formula) +1
inline constexpr unsigned num_activations = 0 TINYATTN_ACTIVATIONS(TINYATTN_ONE_MORE);
#undef TINYATTN_ONE_MORE

// to[j] = the activation of from[j].
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void activate_row(Activation activation, const float* from,
                                                   float* to, std::size_t count) noexcept {
  with_activation<Port>(activation, [&](auto apply) TINYATTN_INLINE_LAMBDA {
    transform_row<Port>(from, to, count, apply);
  });
}

// row[j] *= the activation of gates[j].
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void gate_row(Activation activation, const float* gates,
                                               float* row, std::size_t count) noexcept {
  with_activation<Port>(activation, [&](auto apply) TINYATTN_INLINE_LAMBDA {
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      at.store(row, Port::mul(apply(at.load(gates, 0.0f)), at.load(row, 0.0f)));
    });
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
