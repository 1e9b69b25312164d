// SPDX-License-Identifier: MIT
//
// The backward pass of softmax, from its result.
#pragma once

#include "tinyattn/softmax.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Computes the gradient of m, of which softmax(m, scale) has made `weights`: input_gradient = scale
// * (weights * (output_gradient - D)), D the sum of weights * output_gradient over the row, in
// sixteen lanes. All have one shape; input_gradient may be weights or output_gradient. A scale
// below 2^-126 counts as 0, as in softmax.
constexpr void softmax_backward(const tensor_like auto& weights, float scale,
                                const tensor_like auto& output_gradient,
                                tensor_like auto& input_gradient) noexcept {
  const float factor = kernel::is_no_scale(scale) ? 0.0f : scale;
  detail::backward_rows(weights, output_gradient, input_gradient,
                        [&](auto port, const float* row, const float* d_out, float* d_x) {
                          kernel::softmax_backward_row<decltype(port)>(
                              row, d_out, d_x, detail::LayoutOf<decltype(weights)>::cols, factor);
                        });
}
constexpr void softmax_backward(const tensor_like auto& weights,
                                const tensor_like auto& output_gradient,
                                tensor_like auto& input_gradient) noexcept {
  softmax_backward(weights, 1.0f, output_gradient, input_gradient);
}

TINYATTN_DIAGNOSTIC(class First, softmax_backward(const First&, ...),
                    "softmax_backward takes (weights, output_gradient, input_gradient), with a "
                    "scale after the weights if softmax had one: tensors of float of one shape; "
                    "input_gradient is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
