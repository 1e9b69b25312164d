// SPDX-License-Identifier: MIT
//
// The backward passes of activations, element by element: each activation of activation_list.h has
// one, NAME_backward. And that of standardize.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/activation.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <Activation activation, class TensorX, class OutputGradient, class InputGradient>
constexpr void activation_backward(const TensorX& x, const OutputGradient& output_gradient,
                                   InputGradient& input_gradient) noexcept {
  using LayoutX = LayoutOf<TensorX>;
  if constexpr (check_backward_rows<TensorX, OutputGradient, InputGradient>())
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < LayoutX::batch * LayoutX::rows; ++i)
        kernel::activation_backward_row<decltype(port)>(activation, row_at(x, i),
                                                        row_at(output_gradient, i),
                                                        row_at(input_gradient, i), LayoutX::cols);
    });
}

// Says in a sentence how it is called, if no other overload takes a call.
template <class First>
constexpr Diagnosed diagnose_activation_backward() noexcept {
  static_assert(
      no_such_call<First>,
      "a backward pass of elements takes (x, output_gradient, input_gradient): tensors of "
      "float of one shape; input_gradient is neither const nor a temporary");
  return {};
}

}  // namespace detail

// NAME_backward: input_gradient = output_gradient * the derivative at x. All have one shape;
// input_gradient may be x or output_gradient. The derivative is within 2.6 * 2^-24, that of relu
// exact: 1 where x > 0, else 0. At infinity a derivative is 1, at -infinity 0. A NaN in x gives
// NaN, but 0 by relu.
#define TINYATTN_BACKWARD_OF_CPP(name, NAME, formula)                                     \
  template <tensor_like TensorX, tensor_like OutputGradient, tensor_like InputGradient>   \
  constexpr void name##_backward(const TensorX& x, const OutputGradient& output_gradient, \
                                 InputGradient& input_gradient) noexcept {                \
    detail::activation_backward<Activation::name>(x, output_gradient, input_gradient);    \
  }                                                                                       \
  template <class First>                                                                  \
  constexpr detail::Diagnosed name##_backward(const First&, ...) noexcept {               \
    return detail::diagnose_activation_backward<First>();                                 \
  }
TINYATTN_ACTIVATIONS(TINYATTN_BACKWARD_OF_CPP)
#undef TINYATTN_BACKWARD_OF_CPP

// input_gradient = output_gradient * inverse_deviation, feature by feature; mean and
// inverse_deviation are constants, without gradients. x and both gradients are [..., features];
// input_gradient may be x, whose elements are not read, or output_gradient.
template <tensor_like TensorX, tensor_like Mean, tensor_like InverseDeviation,
          tensor_like OutputGradient, tensor_like InputGradient>
constexpr void standardize_backward(const TensorX&, const Mean&,
                                    const InverseDeviation& inverse_deviation,
                                    const OutputGradient& output_gradient,
                                    InputGradient& input_gradient) noexcept {
  using Layout = detail::LayoutOf<TensorX>;
  if constexpr (detail::check_features<TensorX, Mean, InverseDeviation>() &&
                detail::check_backward_rows<TensorX, OutputGradient, InputGradient>())
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < Layout::batch * Layout::rows; ++i)
        kernel::multiply_elements<decltype(port)>(detail::row_at(output_gradient, i),
                                                  inverse_deviation.data(),
                                                  detail::row_at(input_gradient, i), Layout::cols);
    });
}

TINYATTN_DIAGNOSTIC(
    class First, standardize_backward(const First&, ...),
    "standardize_backward takes (x, mean, inverse_deviation, output_gradient, input_gradient): "
    "tensors of float; input_gradient is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
