// SPDX-License-Identifier: MIT
//
// The backward pass of a norm. Mean and deviation are computed again: they are two numbers for each
// row, and their sums cost less than a row of a product.
#pragma once

#include "tinyattn/kernel/backward/softmax.hpp"
#include "tinyattn/kernel/normalization.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The gradients of a norm, to which a backward pass adds.
struct NormGradient {
  float* weight = nullptr;  // [dim], or nullptr: frozen
  float* bias = nullptr;    // [dim], or nullptr
};

// Writes the normalized row before weight and bias, with the bits of the forward pass; returns the
// inverse deviation.
template <class Port>
TINYATTN_KERNEL float normalized_row(const Norm& norm, const float* x, float* normalized) noexcept {
  const std::size_t dim = norm.dim;
  const float* centered = x;
  if (!is_null(norm.bias)) {
    const float share = 1.0f / static_cast<float>(dim);
    const auto shift = Port::broadcast(-Port::one_lane::mul(sum_of_row<Port>(x, dim), share));
    transform_row<Port>(x, normalized, dim,
                        [&](auto v) TINYATTN_INLINE_LAMBDA { return Port::add(v, shift); });
    centered = normalized;
  }
  const float scale =
      inverse_deviation<Port>(sum_of_squares<Port>(centered, dim), dim, norm.epsilon);
  const auto factor = Port::broadcast(scale);
  transform_row<Port>(centered, normalized, dim,
                      [&](auto v) TINYATTN_INLINE_LAMBDA { return Port::mul(v, factor); });
  return scale;
}

// With n the normalized row and g = d_out * weight: d_x = scale * (g - mean(g) - n * mean(g * n)),
// where scale is the inverse deviation and an RMS norm has no mean(g). Sums have sixteen lanes, and
// are multiplied by 1 / dim. gradient.weight += d_out * n, by fma, and gradient.bias += d_out.
//
//   x, d_out  [dim]
//   d_x       [dim], or nullptr; may be x or d_out
//   row       [dim], scratch
template <class Port>
[[gnu::noinline]] constexpr void norm_backward(Norm norm, NormGradient gradient, const float* x,
                                               const float* d_out, float* d_x,
                                               float* row) noexcept {
  const std::size_t dim = norm.dim;
  const float share = 1.0f / static_cast<float>(dim), scale = normalized_row<Port>(norm, x, row);
  for_each_vector<Port>(dim, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto d = at.load(d_out, 0.0f);
    if (!is_null(gradient.weight))
      at.store(gradient.weight, Port::fma(d, at.load(row, 0.0f), at.load(gradient.weight, 0.0f)));
    if (!is_null(gradient.bias))
      at.store(gradient.bias, Port::add(at.load(gradient.bias, 0.0f), d));
    if (!is_null(d_x)) at.store(d_x, Port::mul(d, at.load(norm.weight, 0.0f)));
  });
  if (is_null(d_x)) return;
  const auto factor = Port::broadcast(scale);
  const auto product =
      Port::broadcast(-Port::one_lane::mul(sum_of_products<Port>(d_x, row, dim), share));
  const auto mean = Port::broadcast(
      is_null(norm.bias) ? 0.0f : -Port::one_lane::mul(sum_of_row<Port>(d_x, dim), share));
  for_each_vector<Port>(dim, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto g = Port::add(at.load(d_x, 0.0f), mean);
    at.store(d_x, Port::mul(Port::fma(product, at.load(row, 0.0f), g), factor));
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
