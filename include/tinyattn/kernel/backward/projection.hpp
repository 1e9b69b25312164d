// SPDX-License-Identifier: MIT
//
// The backward pass of a projection, x . weight + bias.
#pragma once

#include "tinyattn/kernel/backward/product.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The gradients of a projection, to which a backward pass adds. Without a weight it is frozen.
struct ProjectionGradient {
  float* weight = nullptr;  // [in, out]
  float* bias = nullptr;    // [out], or nullptr
};

// gradient.weight += x^T . d_out, gradient.bias += the rows of d_out.
template <class Port>
constexpr void add_projection_gradient(std::size_t rows, std::size_t in, std::size_t out, Dense x,
                                       Dense d_out, const ProjectionGradient& gradient) noexcept {
  if (!is_null(gradient.weight))
    add_outer_product<Port>({in, rows, out, x, d_out, {gradient.weight, out}});
  if (!is_null(gradient.bias)) add_column_sums<Port>(rows, out, d_out, gradient.bias);
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
