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

template <Activation activation>
constexpr void activation_backward(const auto& x, const auto& output_gradient,
                                   auto& input_gradient) noexcept {
  backward_rows(x, output_gradient, input_gradient,
                [](auto port, const float* from, const float* d_out, float* d_x) {
                  kernel::activation_backward_row<decltype(port)>(activation, from, d_out, d_x,
                                                                  LayoutOf<decltype(x)>::cols);
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
template <tensor_like TensorX, tensor_like Mean, tensor_like InverseDeviation>
constexpr void standardize_backward(const TensorX& x, const Mean&,
                                    const InverseDeviation& inverse_deviation,
                                    const tensor_like auto& output_gradient,
                                    tensor_like auto& input_gradient) noexcept {
  if constexpr (detail::check_features<TensorX, Mean, InverseDeviation>())
    detail::backward_rows(x, output_gradient, input_gradient,
                          [&](auto port, const float*, const float* d_out, float* d_x) {
                            kernel::multiply_elements<decltype(port)>(
                                d_out, inverse_deviation.data(), d_x,
                                detail::LayoutOf<TensorX>::cols);
                          });
}

TINYATTN_DIAGNOSTIC(
    class First, standardize_backward(const First&, ...),
    "standardize_backward takes (x, mean, inverse_deviation, output_gradient, input_gradient): "
    "tensors of float; input_gradient is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
