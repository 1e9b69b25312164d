// SPDX-License-Identifier: MIT
//
// The backward passes of LayerNorm and RmsNorm.
#pragma once

#include "tinyattn/normalization.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/normalization.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Returns the gradient of a norm as kernels take it. Its epsilon is no parameter.
template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::NormGradient norm_gradient(Gradient& gradient) noexcept {
  const kernel::ProjectionGradient pointers = projection_gradient(gradient);
  return {pointers.weight, pointers.bias};
}

template <std::size_t Dim, class Norm, class TensorX, class OutputGradient, class InputGradient,
          class Gradient>
constexpr void norm_backward(const Norm& norm, const TensorX& x,
                             const OutputGradient& output_gradient, InputGradient& input_gradient,
                             Gradient& gradient) noexcept {
  using LayoutX = LayoutOf<TensorX>;
  if constexpr (check_features<Dim, TensorX>() &&
                check_backward<Norm, OutputGradient, Like<TensorX>, InputGradient, TensorX,
                               Gradient>())
    on_native_port([&](auto port) {
      float normalized[Dim];
      for (std::size_t element = 0; element < LayoutX::batch; ++element) {
        const kernel::Output d_x = output_or_none(input_gradient, element);
        for (std::size_t i = 0; i < LayoutX::rows; ++i)
          kernel::norm_backward<decltype(port)>(
              describe(norm), norm_gradient(gradient), input(x, element).at(i, 0),
              input(output_gradient, element).at(i, 0),
              is_no_gradient<InputGradient> ? nullptr : d_x.at(i, 0), normalized);
      }
    });
}

}  // namespace detail

// With n the normalized row and g = output_gradient * weight: input_gradient = (g - mean of g - n *
// mean of g n) / deviation; adds output_gradient * n to gradient.weight, and output_gradient to
// gradient.bias, rows rising. gradient.epsilon is not touched. x and both gradients are [..., Dim];
// input_gradient may be x or output_gradient. Either of the last two may be no_gradient. One row of
// floats is on the stack.
template <std::size_t Dim, tensor_like TensorX, tensor_like OutputGradient, class InputGradient,
          class Gradient>
constexpr void backward(const LayerNorm<Dim>& norm, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient) noexcept {
  detail::norm_backward<Dim>(norm, x, output_gradient, input_gradient, gradient);
}

// The same, but input_gradient = (g - n * mean of g n) / root mean square, and without a bias.
template <std::size_t Dim, tensor_like TensorX, tensor_like OutputGradient, class InputGradient,
          class Gradient>
constexpr void backward(const RmsNorm<Dim>& norm, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient) noexcept {
  detail::norm_backward<Dim>(norm, x, output_gradient, input_gradient, gradient);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
