// SPDX-License-Identifier: MIT
//
// The backward passes of softmax, from its result, and of its relatives.
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

template <class TensorW>
constexpr detail::Diagnosed softmax_backward(const TensorW&, ...) noexcept {
  static_assert(detail::no_such_call<TensorW>,
                "softmax_backward takes (weights, output_gradient, input_gradient), with a scale "
                "after the weights if softmax had one: tensors of float of one shape; "
                "input_gradient is neither const nor a temporary");
  return {};
}

// Computes the gradient of m, of which softmax_naive(m) has made `weights`: that of softmax.
template <tensor_like TensorW, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void softmax_naive_backward(const TensorW& weights, const OutputGradient& output_gradient,
                                      InputGradient& input_gradient) noexcept {
  softmax_backward(weights, output_gradient, input_gradient);
}

template <class TensorW>
constexpr detail::Diagnosed softmax_naive_backward(const TensorW&, ...) noexcept {
  static_assert(detail::no_such_call<TensorW>,
                "softmax_naive_backward takes (weights, output_gradient, input_gradient): tensors "
                "of float of one shape; input_gradient is neither const nor a temporary");
  return {};
}

// Computes the gradient of normalize(m): input_gradient = (output_gradient - D) * r, r the
// reciprocal of the sum of the row, D = r * the sum of m * output_gradient over the row, both sums
// in sixteen lanes. A row whose sum is 0 gets zeros. All have one shape; input_gradient may be m or
// output_gradient.
template <tensor_like TensorM, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void normalize_backward(const TensorM& m, const OutputGradient& output_gradient,
                                  InputGradient& input_gradient) noexcept {
  using Layout = detail::LayoutOf<TensorM>;
  if constexpr (detail::check_backward_rows<TensorM, OutputGradient, InputGradient>())
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < Layout::batch * Layout::rows; ++i)
        kernel::normalize_backward_row<decltype(port)>(
            detail::row_at(m, i), detail::row_at(output_gradient, i),
            detail::row_at(input_gradient, i), Layout::cols);
    });
}

template <class TensorM>
constexpr detail::Diagnosed normalize_backward(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "normalize_backward takes (m, output_gradient, input_gradient): tensors of float "
                "of one shape; input_gradient is neither const nor a temporary");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
