// SPDX-License-Identifier: MIT
//
// The backward pass of adapted projections. With low = s * (x . A), rounded as in the forward pass,
// and d_low = s * (d_out . B^T), a chain from +0 that is rounded again:
//
//   d_B += low^T . d_out
//   d_A += x^T . d_low
//   d_x = d_out . weight^T + d_low . A^T, one chain: the base first
#pragma once

#include "tinyattn/training/kernel/adapter.hpp"
#include "tinyattn/training/kernel/int8.hpp"
#include "tinyattn/training/kernel/projection.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Returns an adapted weight, or the gradient of its adapter, for the inputs from `first` on.
template <class Base, std::size_t Rank>
TINYATTN_KERNEL auto from_input(const AdaptedWeight<Base, Rank>& weight, std::size_t first,
                                std::size_t out) noexcept {
  const auto base = from_input(weight.base, first, out);
  Adapter<Rank> adapter = weight.adapter;
  if (!is_null(adapter.a)) adapter.a += first * Rank;
  return AdaptedWeight<std::remove_const_t<decltype(base)>, Rank>{base, adapter};
}
template <class Base, std::size_t Rank>
TINYATTN_KERNEL ProjectionGradient from_input(const AdaptedWeight<Base, Rank>&,
                                              const ProjectionGradient& gradient, std::size_t first,
                                              std::size_t) noexcept {
  return {nullptr, nullptr, gradient.lora_a + first * Rank, gradient.lora_b};
}

// d_low = s * (d_out . B^T), [rows, Rank]
template <class Port, std::size_t Rank>
TINYATTN_KERNEL void gradient_of_rank(std::size_t rows, std::size_t out, Dense d_out,
                                      const Adapter<Rank>& adapter, float* d_low) noexcept {
  project_backward<Port>(rows, Rank, out, d_out, adapter.b, {d_low, Rank});
  multiply_by<Port>(adapter.scale, d_low, rows * Rank);
}

// Adds to the gradients of an adapter; the base is frozen.
template <class Port, class Base, std::size_t Rank>
constexpr void add_projection_gradient(std::size_t rows, std::size_t in, std::size_t out, Dense x,
                                       Dense d_out, const AdaptedWeight<Base, Rank>& weight,
                                       const ProjectionGradient& gradient) noexcept {
  if (is_null(gradient.lora_a)) return;
  constexpr std::size_t most = rows_of_rank<Port, Rank>;
  for (std::size_t first = 0; first < rows; first += most) {
    float low[most * Rank];
    const std::size_t count = minimum(most, rows - first);
    const Dense inputs = x.from(first, 0), d = d_out.from(first, 0);
    project_to_rank<Port>(count, in, inputs, weight.adapter, low);
    add_outer_product<Port>({Rank, count, out, {low, Rank}, d, {gradient.lora_b, out}});
    gradient_of_rank<Port>(count, out, d, weight.adapter, low);
    add_outer_product<Port>({in, count, Rank, inputs, {low, Rank}, {gradient.lora_a, Rank}});
  }
}

// d_x += d_low . A^T
template <class Port, std::size_t Rank>
constexpr void add_adapter_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                    const Adapter<Rank>& adapter, Output d_x) noexcept {
  if (is_null(adapter.a)) return;
  constexpr std::size_t most = rows_of_rank<Port, Rank>;
  for (std::size_t first = 0; first < rows; first += most) {
    float d_low[most * Rank];
    const std::size_t count = minimum(most, rows - first);
    gradient_of_rank<Port>(count, out, d_out.from(first, 0), adapter, d_low);
    add_projected_backward<Port>(count, in, Rank, {d_low, Rank}, adapter.a, d_x.from(first, 0));
  }
}

template <class Port, class Base, std::size_t Rank>
TINYATTN_KERNEL void project_backward(std::size_t rows, std::size_t in, std::size_t out,
                                      Dense d_out, const AdaptedWeight<Base, Rank>& weight,
                                      Output d_x) noexcept {
  project_backward<Port>(rows, in, out, d_out, weight.base, d_x);
  add_adapter_backward<Port>(rows, in, out, d_out, weight.adapter, d_x);
}
template <class Port, class Base, std::size_t Rank>
TINYATTN_KERNEL void add_projected_backward(std::size_t rows, std::size_t in, std::size_t out,
                                            Dense d_out, const AdaptedWeight<Base, Rank>& weight,
                                            Output d_x) noexcept {
  add_projected_backward<Port>(rows, in, out, d_out, weight.base, d_x);
  add_adapter_backward<Port>(rows, in, out, d_out, weight.adapter, d_x);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
