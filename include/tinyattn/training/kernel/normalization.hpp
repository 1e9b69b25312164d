// SPDX-License-Identifier: MIT
//
// The backward pass of a norm. Mean and deviation are computed again: they are two numbers for each
// row, and their sums cost less than a row of a product.
#pragma once

#include "tinyattn/kernel/normalization.hpp"
#include "tinyattn/training/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The gradients of a norm, to which a backward pass adds.
struct NormGradient {
  float* weight = nullptr;  // [dim], or nullptr: frozen
  float* bias = nullptr;    // [dim], or nullptr
};

// Writes the normalized row before weight and bias, with the bits of the forward pass; returns the
// inverse deviation. IsCentered: of a layer norm, which subtracts the mean.
template <class Port, bool IsCentered>
TINYATTN_KERNEL float normalized_row(const Norm& norm, const float* x, float* normalized) noexcept {
  const std::size_t dim = norm.dim;
  if (IsCentered) {
    const float mean = Port::one_lane::mul(sum_of_row<Port>(x, dim), norm.inverse_dim);
    const auto shift = Port::broadcast(-mean);
    transform_row<Port>(x, normalized, dim,
                        [&](auto v) TINYATTN_INLINE_LAMBDA { return Port::add(v, shift); });
    x = normalized;
  }
  const float scale = inverse_deviation<Port>(sum_of_products<Port>(x, x, dim), norm);
  scale_row<Port>(x, scale, normalized, dim);
  return scale;
}

// d_x[j] = scale * (d_x[j] + mean + product * normalized[j]).
template <class Port>
TINYATTN_KERNEL void center_and_scale(const float* normalized, float* d_x, std::size_t count,
                                      float product, float mean, float scale) noexcept {
  if constexpr (computes_rows<Port>) {
    Port::center_and_scale(normalized, d_x, count, product, mean, scale);
  } else {
    const auto by = Port::broadcast(product), addend = Port::broadcast(mean),
               factor = Port::broadcast(scale);
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      const auto g = Port::add(at.load(d_x, 0.0f), addend);
      at.store(d_x, Port::mul(Port::fma(by, at.load(normalized, 0.0f), g), factor));
    });
  }
}

// As norm_backward below, for norms of one kind: a program that has one kind has one function.
template <class Port, bool IsCentered>
[[gnu::noinline]] constexpr void norm_backward_of(Norm norm, NormGradient gradient, const float* x,
                                                  const float* d_out, float* d_x,
                                                  float* row) noexcept {
  const std::size_t dim = norm.dim;
  const float scale = normalized_row<Port, IsCentered>(norm, x, row);
  if (!is_null(gradient.weight)) add_products<Port>(d_out, row, gradient.weight, dim);
  if (IsCentered && !is_null(gradient.bias)) add_row<Port>(d_out, gradient.bias, dim);
  if (is_null(d_x)) return;
  multiply_elements<Port>(d_out, norm.weight, d_x, dim);
  const float share = -norm.inverse_dim;
  const float product = Port::one_lane::mul(sum_of_products<Port>(d_x, row, dim), share);
  const float mean = IsCentered ? Port::one_lane::mul(sum_of_row<Port>(d_x, dim), share) : 0.0f;
  center_and_scale<Port>(row, d_x, dim, product, mean, scale);
}

// With n the normalized row and g = d_out * weight: d_x = scale * (g - mean(g) - n * mean(g * n)),
// where scale is the inverse deviation and an RMS norm has no mean(g). Sums have sixteen lanes, and
// are multiplied by 1 / dim. gradient.weight += d_out * n, by fma, and gradient.bias += d_out.
//
//   x, d_out  [dim]
//   d_x       [dim], or nullptr; may be x or d_out
//   row       [dim], scratch
template <class Port>
TINYATTN_KERNEL void norm_backward(const Norm& norm, const NormGradient& gradient, const float* x,
                                   const float* d_out, float* d_x, float* row) noexcept {
  is_null(norm.bias) ? norm_backward_of<Port, false>(norm, gradient, x, d_out, d_x, row)
                     : norm_backward_of<Port, true>(norm, gradient, x, d_out, d_x, row);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
