// SPDX-License-Identifier: MIT
//
// The backward pass of a Linear.
#pragma once

#include "tinyattn/linear.hpp"
#include "tinyattn/training/gradient.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <class Layer>
struct LinearOf {};
template <std::size_t In, std::size_t Out, bool Bias, Weights of_layer>
struct LinearOf<Linear<In, Out, Bias, of_layer>> {
  static constexpr std::size_t in = In, out = Out;
  static constexpr Weights weights = of_layer;
};
template <class Layer>
concept trained_linear = has_backward<Layer, LinearOf<BaseOf<Layer>>::weights>;

}  // namespace detail

// Adds to gradient.weight x^T . output_gradient, and to gradient.bias the rows of output_gradient;
// input_gradient = output_gradient . weight^T. x and input_gradient are [..., In], output_gradient
// is [..., Out]; input_gradient may be x. Either gradient may be no_gradient. With adapters, adds
// to the gradients of A and B instead.
template <detail::trained_linear Layer, tensor_like TensorX, tensor_like OutputGradient,
          class InputGradient, class Gradient>
constexpr void backward(const Layer& linear, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient) noexcept {
  using Layout = detail::LayoutOf<TensorX>;
  constexpr std::size_t in = detail::LinearOf<detail::BaseOf<Layer>>::in,
                        out = detail::LinearOf<detail::BaseOf<Layer>>::out;
  if constexpr (detail::check_backward_input<in, TensorX>() &&
                detail::check_backward<Layer, OutputGradient, detail::WithCols<TensorX, out>,
                                       InputGradient, TensorX, Gradient>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      const auto weight = describe(linear).weight;
      for (std::size_t i = 0; i < Layout::batch; ++i) {
        const kernel::Dense d_out = detail::input(output_gradient, i);
        kernel::add_projection_gradient<Port>(Layout::rows, in, out, detail::input(x, i), d_out,
                                              weight, detail::projection_gradient(gradient));
        if constexpr (!detail::is_no_gradient<InputGradient>)
          kernel::project_backward<Port>(Layout::rows, in, out, d_out, weight,
                                         detail::output(input_gradient, i));
      }
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
