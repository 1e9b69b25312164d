// SPDX-License-Identifier: MIT
//
// Activations and their derivatives, element by element. Where f(x) - f(-x) = x, as for those that
// call slope_from_below, f'(x) = 1 - f'(-x): it is computed below 0, where it is small.
#pragma once

#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/training/kernel/row.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The activation of x, with the bits of the forward pass, and the derivative at x.
template <class Port>
struct ValueAndSlope {
  typename Port::vec value, slope;
};

// Returns the derivative at x of an f with f(x) - f(-x) = x, from that at -|x|.
template <class Port>
TINYATTN_KERNEL auto slope_from_below(typename Port::vec x, typename Port::vec below) noexcept {
  const auto above = Port::add(negative<Port>(below), Port::broadcast(1.0f));
  return Port::select_less(x, Port::splat(0.0f), below, above);
}

// 1 where x > 0, else 0, as in PyTorch.
template <class Port>
TINYATTN_KERNEL auto relu_with_slope(typename Port::vec x) noexcept {
  const auto zero = Port::splat(0.0f);
  return ValueAndSlope<Port>{relu<Port>(x), Port::select_less(zero, x, Port::splat(1.0f), zero)};
}

// Returns the derivative at y <= 0 of y s, s = 1 / (1 + e^-w): s + y w' s (1 - s), from e = e^w,
// where s = e r and 1 - s = r = 1 / (1 + e). `y_slope` is y w'.
template <class Port>
TINYATTN_KERNEL auto logistic_slope(typename Port::vec y_slope, typename Port::vec e) noexcept {
  const auto rest = quotient<Port>(Port::splat(1.0f), Port::add(e, Port::broadcast(1.0f)));
  const auto share = Port::mul(e, rest);
  return Port::fma(Port::mul(y_slope, share), rest, share);
}

template <class Port>
TINYATTN_KERNEL auto silu_with_slope(typename Port::vec x) noexcept {
  const auto below = cut_off<Port>(negative_magnitude<Port>(x));
  const auto e = exp_of_nonpositive<Port>(below);
  return ValueAndSlope<Port>{logistic<Port>(x, below, e),
                             slope_from_below<Port>(x, logistic_slope<Port>(below, e))};
}

// w = 2u, u = sqrt(2 / pi) (x + 0.044715 x^3).
template <class Port>
TINYATTN_KERNEL auto gelu_tanh_with_slope(typename Port::vec x) noexcept {
  const auto parts = gelu_tanh_parts<Port>(x);
  const auto w_slope =
      Port::fma(Port::broadcast(-0x1.b6676cp-3f), parts.square, Port::splat(0x1.988454p+0f));
  const auto below = logistic_slope<Port>(Port::mul(parts.below, w_slope), parts.e);
  return ValueAndSlope<Port>{logistic<Port>(x, parts.below, parts.e),
                             slope_from_below<Port>(x, below)};
}

// Phi(-|x|) - |x| phi(x), phi and Phi the normal density and distribution. Phi(-|x|) e^(x^2 / 2) is
// -p(v) / (|x| + 3.5), and 1 / (|x| + 3.5) is (1 - v) / 3.5.
template <class Port>
TINYATTN_KERNEL auto gelu_with_slope(typename Port::vec x) noexcept {
  constexpr float share = 1.0f / gelu_offset, density = 0x1.988454p-2f;  // 1 / sqrt(2 pi)
  const auto parts = gelu_parts<Port>(x);
  const auto rest = Port::fma(Port::broadcast(share), parts.v, Port::splat(-share));
  const auto tail = Port::fma(Port::broadcast(-density), parts.size, Port::mul(parts.p, rest));
  return ValueAndSlope<Port>{gelu_of_parts<Port>(x, parts),
                             slope_from_below<Port>(x, Port::mul(parts.e, tail))};
}

// Calls use(apply), where apply(x) is the ValueAndSlope of a vector. Does nothing for a number that
// names no activation. If the activation is a constant, the others leave no code.
template <class Port>
TINYATTN_KERNEL void with_slope(Activation activation, const auto& use) noexcept {
#define TINYATTN_CASE(name, NAME, formula) \
  case Activation::name:                   \
    return use([](auto x) { return name##_with_slope<Port>(x); });
  switch (activation) { TINYATTN_ACTIVATIONS(TINYATTN_CASE) }
#undef TINYATTN_CASE
}

// d_x[j] = the derivative at x[j], times d_out[j]; d_x may be x or d_out.
template <class Port>
TINYATTN_KERNEL void activation_backward_row(Activation activation, const float* x,
                                             const float* d_out, float* d_x,
                                             std::size_t count) noexcept {
  with_slope<Port>(activation, [&](auto apply) TINYATTN_INLINE_LAMBDA {
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      at.store(d_x, Port::mul(apply(at.load(x, 0.0f)).slope, at.load(d_out, 0.0f)));
    });
  });
}

// x[j] becomes its activation, and d[j], the gradient of that, becomes the gradient of x[j].
template <class Port>
TINYATTN_KERNEL void activate_and_backward_row(Activation activation, float* x, float* d,
                                               std::size_t count) noexcept {
  with_slope<Port>(activation, [&](auto apply) TINYATTN_INLINE_LAMBDA {
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      const auto both = apply(at.load(x, 0.0f));
      at.store(d, Port::mul(both.slope, at.load(d, 0.0f)));
      at.store(x, both.value);
    });
  });
}

// The same for x[j] times the activation of gates[j]: d[j] becomes the gradient of x[j], and
// gates[j] its own gradient, d x times the derivative.
template <class Port>
TINYATTN_KERNEL void gate_and_backward_row(Activation activation, float* gates, float* x, float* d,
                                           std::size_t count) noexcept {
  with_slope<Port>(activation, [&](auto apply) TINYATTN_INLINE_LAMBDA {
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      const auto both = apply(at.load(gates, 0.0f));
      const auto hidden = at.load(x, 0.0f), d_hidden = at.load(d, 0.0f);
      at.store(gates, Port::mul(both.slope, Port::mul(d_hidden, hidden)));
      at.store(x, Port::mul(both.value, hidden));
      at.store(d, Port::mul(d_hidden, both.value));
    });
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
