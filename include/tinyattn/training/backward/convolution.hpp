// SPDX-License-Identifier: MIT
//
// The backward pass of a Conv1d.
#pragma once

#include "tinyattn/convolution.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/convolution.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Adds to gradient.weight and gradient.bias, tokens of the result rising, then batch elements.
// input_gradient[t][j] is the sum over tokens i of the result that x[t] is part of, and over
// outputs o, of output_gradient[i][o] * weight[k * in + j][o], k the token of the kernel that lies
// on x[t]: one chain of fma from +0, i rising, then o. Both leave out the padding. x and
// input_gradient are
// [..., tokens, in], output_gradient is [..., tokens_after(tokens), out]; input_gradient may not
// overlap it, but may be x. Either of the last two may be no_gradient.
template <Conv1dConfig config, tensor_like TensorX, tensor_like OutputGradient, class InputGradient,
          class Gradient>
requires(config.weights ==
         Weights::f32) constexpr void backward(const Conv1d<config>& layer, const TensorX& x,
                                               const OutputGradient& output_gradient,
                                               InputGradient& input_gradient,
                                               Gradient& gradient) noexcept {
  using LayoutX = detail::LayoutOf<TensorX>;
  if constexpr (detail::check_convolved<config, TensorX>() &&
                detail::check_backward<Conv1d<config>, OutputGradient,
                                       detail::Convolved<config, TensorX>, InputGradient, TensorX,
                                       Gradient>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      constexpr kernel::Convolution shape{LayoutX::rows, config.in,     config.out,
                                          config.kernel, config.stride, config.padding};
      for (std::size_t element = 0; element < LayoutX::batch; ++element) {
        const kernel::Dense d_out = detail::input(output_gradient, element);
        kernel::add_convolution_gradient<Port>(shape, detail::matrix_at(x, element), d_out,
                                               detail::projection_gradient(gradient));
        if constexpr (!detail::is_no_gradient<InputGradient>)
          kernel::convolve_backward<Port>(shape, d_out, layer.weight.data(),
                                          detail::matrix_at(input_gradient, element));
      }
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
