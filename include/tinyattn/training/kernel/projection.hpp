// SPDX-License-Identifier: MIT
//
// The backward pass of a projection, x . weight + bias.
#pragma once

#include "tinyattn/training/kernel/product.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The gradients of a projection, to which a backward pass adds. What is null is frozen.
struct ProjectionGradient {
  float* weight = nullptr;  // [in, out]
  float* bias = nullptr;    // [out]
  float* lora_a = nullptr;  // [in, rank]: of its adapter
  float* lora_b = nullptr;  // [rank, out]

  // Whether the input is needed.
  TINYATTN_ALWAYS_INLINE constexpr bool takes_input() const noexcept {
    return !is_null(weight) || !is_null(lora_a);
  }
};

// Returns a weight, or a gradient of it, for the inputs from `first` on, of an [in, out] matrix.
TINYATTN_KERNEL const float* from_input(const float* weight, std::size_t first,
                                        std::size_t out) noexcept {
  return weight + first * out;
}
TINYATTN_KERNEL ProjectionGradient from_input(const float*, const ProjectionGradient& gradient,
                                              std::size_t first, std::size_t out) noexcept {
  return {gradient.weight + first * out};
}
TINYATTN_KERNEL ProjectionGradient from_input(const auto&, const ProjectionGradient&, std::size_t,
                                              std::size_t) noexcept {
  return {};
}

// Computes a projection of the forward pass again. That of a weight of floats is a function: its
// code would be in flash for each call, and one row is no case of its own.
template <class Port>
TINYATTN_KERNEL void project_floats(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                                    const Projection<>& to, Output out) noexcept {
  project<Port>(rows, in, cols, x, to, out, NoScratch{});
}
template <class Port, class Weight>
TINYATTN_KERNEL void project_again(std::size_t rows, std::size_t in, std::size_t cols,
                                   const auto& x, const Projection<Weight>& to, Output out,
                                   const auto&... integers) noexcept {
  if constexpr (std::same_as<Weight, const float*>)
    project_floats<Port>(rows, in, cols, x, to, out);
  else if constexpr (sizeof...(integers) == 0)
    project_few<Port>(rows, in, cols, x, to, out);
  else
    project<Port>(rows, in, cols, x, to, out, integers...);
}

// gradient.weight += x^T . d_out, gradient.bias += the rows of d_out.
template <class Port>
constexpr void add_projection_gradient(std::size_t rows, std::size_t in, std::size_t out, Dense x,
                                       Dense d_out, const ProjectionGradient& gradient) noexcept {
  if (!is_null(gradient.weight))
    add_outer_product<Port>({in, rows, out, x, d_out, {gradient.weight, out}});
  if (!is_null(gradient.bias)) add_column_sums<Port>(rows, out, d_out, gradient.bias);
}

// The same for any weight; those of other types than floats are frozen.
template <class Port>
TINYATTN_KERNEL void add_projection_gradient(std::size_t rows, std::size_t in, std::size_t out,
                                             Dense x, Dense d_out, const auto&,
                                             const ProjectionGradient& gradient) noexcept {
  add_projection_gradient<Port>(rows, in, out, x, d_out, gradient);
}

// d_x = d_out . weight^T; d_x may not overlap d_out.
template <class Port>
constexpr void project_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                const float* weight, Output d_x) noexcept {
  multiply_transposed<Port>(
      Product<Dense, Transposed<>>{rows, out, in, d_out, {{weight, out}}, nullptr, d_x});
}

// d_x += d_out . weight^T: the chain of each element goes on.
template <class Port>
constexpr void add_projected_backward(std::size_t rows, std::size_t in, std::size_t out,
                                      Dense d_out, const float* weight, Output d_x) noexcept {
  multiply_transposed<Port>(
      Product<Dense, Transposed<>, Dense>{rows, out, in, d_out, {{weight, out}}, d_x, d_x});
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
