// SPDX-License-Identifier: MIT
//
// The backward pass of softmax, from its result.
#pragma once

#include "tinyattn/softmax.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/softmax.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Computes the gradient of m, of which softmax(m, scale) has made `weights`: input_gradient = scale
// * (weights * (output_gradient - D)), D the sum of weights * output_gradient over the row, in
// sixteen lanes. All have one shape; input_gradient may be weights or output_gradient. A scale
// below 2^-126 counts as 0, as in softmax.
template <tensor_like TensorW, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void softmax_backward(const TensorW& weights, float scale,
                                const OutputGradient& output_gradient,
                                InputGradient& input_gradient) noexcept {
  using Layout = detail::LayoutOf<TensorW>;
  if constexpr (detail::check_backward_rows<TensorW, OutputGradient, InputGradient>())
    on_native_port([&](auto port) {
      const float factor = kernel::is_no_scale(scale) ? 0.0f : scale;
      for (std::size_t i = 0; i < Layout::batch * Layout::rows; ++i)
        kernel::softmax_backward_row<decltype(port)>(
            detail::row_at(weights, i), detail::row_at(output_gradient, i),
            detail::row_at(input_gradient, i), Layout::cols, factor);
    });
}

template <tensor_like TensorW, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void softmax_backward(const TensorW& weights, const OutputGradient& output_gradient,
                                InputGradient& input_gradient) noexcept {
  softmax_backward(weights, 1.0f, output_gradient, input_gradient);
}

TINYATTN_DIAGNOSTIC(class First, softmax_backward(const First&, ...),
                    "softmax_backward takes (weights, output_gradient, input_gradient), with a "
                    "scale after the weights if softmax had one: tensors of float of one shape; "
                    "input_gradient is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
