// SPDX-License-Identifier: MIT
//
// The backward passes of reductions over tokens. As in the forward pass, a number of tokens may
// follow x: then rows of input_gradient from there on are not touched.
#pragma once

#include "tinyattn/pooling.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/pooling.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Computes step(port, x, d_out, d_x) for each matrix of a batch, if it has `count` tokens.
template <class TensorX, class OutputGradient, class InputGradient>
constexpr Status backward_pools(const TensorX& x, std::size_t count,
                                const OutputGradient& output_gradient,
                                InputGradient& input_gradient, const auto& step) noexcept {
  if constexpr (check_tokens<TensorX>()) {
    using Result = std::conditional_t<is_pooled<TensorX, OutputGradient>, OutputGradient,
                                      WithBatch<TensorX, LayoutOf<TensorX>::cols>>;
    if constexpr (check_backward_function<OutputGradient, Result, InputGradient, TensorX>()) {
      const Status status = check_count<TensorX>(count);
      if (status != Status::ok) return status;
      on_native_port([&](auto port) {
        for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i)
          step(port, input(x, i), row_at(output_gradient, i), output(input_gradient, i));
      });
    }
  }
  return Status::ok;
}

}  // namespace detail

// Each row of input_gradient = output_gradient times the float 1 / tokens, over the first `count`
// tokens. Returns no_tokens for 0, too_many_tokens for more than x has. x and input_gradient are
// [..., tokens, features], output_gradient is [..., features]; input_gradient may be x, whose
// elements are not read.
template <tensor_like TensorX>
constexpr Status mean_backward(const TensorX& x, std::size_t count,
                               const tensor_like auto& output_gradient,
                               tensor_like auto& input_gradient) noexcept {
  return detail::backward_pools(
      x, count, output_gradient, input_gradient,
      [=](auto port, kernel::Dense, const float* d_out, kernel::Output d_x) {
        kernel::mean_backward<decltype(port)>(count, detail::LayoutOf<TensorX>::cols, d_out, d_x);
      });
}
// The same over all tokens.
template <tensor_like TensorX>
constexpr void mean_backward(const TensorX& x, const tensor_like auto& output_gradient,
                             tensor_like auto& input_gradient) noexcept {
  static_cast<void>(
      mean_backward(x, detail::LayoutOf<TensorX>::rows, output_gradient, input_gradient));
}

// Each element of output_gradient goes to the first maximum of its feature, as by torch.max; all
// else is 0. torch.amax would divide it among equal maxima. Tensors are as above; input_gradient
// may be x. Where a feature has a NaN, one of its tokens gets the gradient.
template <tensor_like TensorX>
constexpr Status largest_backward(const TensorX& x, std::size_t count,
                                  const tensor_like auto& output_gradient,
                                  tensor_like auto& input_gradient) noexcept {
  return detail::backward_pools(
      x, count, output_gradient, input_gradient,
      [=](auto port, kernel::Dense from, const float* d_out, kernel::Output d_x) {
        kernel::maximum_backward<decltype(port)>(count, detail::LayoutOf<TensorX>::cols, from,
                                                 d_out, d_x);
      });
}
// The same over all tokens.
template <tensor_like TensorX>
constexpr void largest_backward(const TensorX& x, const tensor_like auto& output_gradient,
                                tensor_like auto& input_gradient) noexcept {
  static_cast<void>(
      largest_backward(x, detail::LayoutOf<TensorX>::rows, output_gradient, input_gradient));
}

TINYATTN_DIAGNOSTIC(class First, mean_backward(const First&, detail::Anything, ...),
                    "mean_backward takes (x, output_gradient, input_gradient), or a count after x: "
                    "tensors of float; input_gradient is neither const nor a temporary")
TINYATTN_DIAGNOSTIC(class First, largest_backward(const First&, detail::Anything, ...),
                    "largest_backward takes (x, output_gradient, input_gradient), or a count after "
                    "x: tensors of float; input_gradient is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
