// SPDX-License-Identifier: MIT
//
// The backward pass of a Linear.
#pragma once

#include "tinyattn/linear.hpp"
#include "tinyattn/training/gradient.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Adds to gradient.weight x^T . output_gradient, and to gradient.bias the rows of output_gradient;
// input_gradient = output_gradient . weight^T. x and input_gradient are [..., In], output_gradient
// is [..., Out]; input_gradient may be x. Either gradient may be no_gradient.
template <std::size_t In, std::size_t Out, bool Bias, tensor_like TensorX,
          tensor_like OutputGradient, class InputGradient, class Gradient>
constexpr void backward(const Linear<In, Out, Bias>& linear, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient) noexcept {
  using Layout = detail::LayoutOf<TensorX>;
  if constexpr (detail::check_backward_input<In, TensorX>() &&
                detail::check_backward<Linear<In, Out, Bias>, OutputGradient,
                                       detail::WithCols<TensorX, Out>, InputGradient, TensorX,
                                       Gradient>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      for (std::size_t i = 0; i < Layout::batch; ++i) {
        const kernel::Dense d_out = detail::input(output_gradient, i);
        kernel::add_projection_gradient<Port>(Layout::rows, In, Out, detail::input(x, i), d_out,
                                              detail::projection_gradient(gradient));
        if constexpr (!detail::is_no_gradient<InputGradient>)
          kernel::project_backward<Port>(Layout::rows, In, Out, d_out, linear.weight.data(),
                                         detail::output(input_gradient, i));
      }
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
