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

template <class Norm>
inline constexpr std::size_t features_of_norm = 0;
template <std::size_t Dim>
inline constexpr std::size_t features_of_norm<LayerNorm<Dim>> = Dim;
template <std::size_t Dim>
inline constexpr std::size_t features_of_norm<RmsNorm<Dim>> = Dim;

}  // namespace detail

// With n the normalized row and g = output_gradient * weight: input_gradient = (g - mean of g - n *
// mean of g n) / deviation; of an RmsNorm, (g - n * mean of g n) / root mean square. Adds
// output_gradient * n to gradient.weight, and output_gradient to the bias of a LayerNorm, rows
// rising. gradient.epsilon is not touched. x and both gradients are [..., Dim]; input_gradient may
// be x or output_gradient. Either of the last two may be no_gradient. One row of floats is on the
// stack.
template <class Norm, tensor_like TensorX, tensor_like OutputGradient, class InputGradient,
          class Gradient>
requires(detail::features_of_norm<Norm> !=
         0) constexpr void backward(const Norm& norm, const TensorX& x,
                                    const OutputGradient& output_gradient,
                                    InputGradient& input_gradient, Gradient& gradient) noexcept {
  using LayoutX = detail::LayoutOf<TensorX>;
  constexpr std::size_t dim = detail::features_of_norm<Norm>;
  if constexpr (detail::check_features<dim, TensorX>() &&
                detail::check_backward<Norm, OutputGradient, detail::Like<TensorX>, InputGradient,
                                       TensorX, Gradient>())
    on_native_port([&](auto port) {
      float normalized[dim];
      for (std::size_t element = 0; element < LayoutX::batch; ++element) {
        const kernel::Output d_x = detail::output_or_none(input_gradient, element);
        for (std::size_t i = 0; i < LayoutX::rows; ++i)
          kernel::norm_backward<decltype(port)>(
              describe(norm), detail::norm_gradient(gradient), detail::input(x, element).at(i, 0),
              detail::input(output_gradient, element).at(i, 0),
              detail::is_no_gradient<InputGradient> ? nullptr : d_x.at(i, 0), normalized);
      }
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
