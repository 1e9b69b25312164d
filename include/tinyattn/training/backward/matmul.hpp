// SPDX-License-Identifier: MIT
//
// The backward passes of products of matrices.
#pragma once

#include "tinyattn/matmul.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/transposed_product.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// d_b = the sum over batch elements of left^T . right, or that of each element: chains from +0,
// rows rising, then elements.
template <class Port, class GradientB, class Left, class Right>
constexpr void multiply_outer(const Left& left, const Right& right, GradientB& d_b) noexcept {
  using LayoutB = LayoutOf<GradientB>;
  fill_with_zeros(d_b);
  for (std::size_t element = 0; element < LayoutOf<Left>::batch; ++element)
    kernel::add_outer_product<Port>({LayoutB::rows, LayoutOf<Left>::rows, LayoutB::cols,
                                     input(left, element), input(right, element),
                                     output(d_b, LayoutB::batch == 1 ? 0 : element)});
}

}  // namespace detail

// Computes the gradients of matmul(a, b): a_gradient = output_gradient . b^T, b_gradient = a^T .
// output_gradient. Each sum is one chain of fma from +0, of columns of output_gradient in rising
// order, or of rows, and then of batch elements if b is one matrix for all.
//
//   a, a_gradient    [..., rows, inner], or a Vector [inner]
//   b, b_gradient    [inner, cols], for the whole batch of a, or one for each batch element
//   output_gradient  the shape of a, but cols columns
//
// Either gradient may be no_gradient, and may overlap nothing else.
template <tensor_like TensorA, tensor_like TensorB, tensor_like OutputGradient, class GradientA,
          class GradientB>
constexpr void matmul_backward(const TensorA& a, const TensorB& b,
                               const OutputGradient& output_gradient, GradientA& a_gradient,
                               GradientB& b_gradient) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  using Of = detail::ProductOf<kernel::Dense, TensorA, TensorB>;
  using Result = decltype(Of::result());
  if constexpr (detail::check_product<Of, TensorA, TensorB, Result, false>() &&
                detail::check_backward_function<OutputGradient, Result, GradientA, TensorA>() &&
                detail::check_backward_function<OutputGradient, Result, GradientB, TensorB>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      if constexpr (!detail::is_no_gradient<GradientA>)
        for (std::size_t element = 0; element < LayoutA::batch; ++element)
          kernel::multiply_transposed<Port>(kernel::Product<kernel::Dense, kernel::Transposed<>>{
              LayoutA::rows,
              detail::LayoutOf<TensorB>::cols,
              LayoutA::cols,
              detail::input(output_gradient, element),
              {detail::input(b, element)},
              nullptr,
              detail::output(a_gradient, element)});
      if constexpr (!detail::is_no_gradient<GradientB>)
        detail::multiply_outer<Port>(a, output_gradient, b_gradient);
    });
}

// Computes the gradients of matmul_transposed(a, b): a_gradient = output_gradient . b, b_gradient =
// output_gradient^T . a, in chains as above.
//
//   a, a_gradient    [..., rows, inner], or a Vector [inner]
//   b, b_gradient    [cols, inner], for the whole batch of a, or one for each batch element
//   output_gradient  the shape of a, but cols columns
//
// Either gradient may be no_gradient, and may overlap nothing else.
template <tensor_like TensorA, tensor_like TensorB, tensor_like OutputGradient, class GradientA,
          class GradientB>
constexpr void matmul_transposed_backward(const TensorA& a, const TensorB& b,
                                          const OutputGradient& output_gradient,
                                          GradientA& a_gradient, GradientB& b_gradient) noexcept {
  using Of = detail::ProductOf<kernel::Transposed<>, TensorA, TensorB>;
  using Result = decltype(Of::result());
  if constexpr (detail::check_product<Of, TensorA, TensorB, Result, false>() &&
                detail::check_backward_function<OutputGradient, Result, GradientA, TensorA>() &&
                detail::check_backward_function<OutputGradient, Result, GradientB, TensorB>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      if constexpr (!detail::is_no_gradient<GradientA>) matmul(output_gradient, b, a_gradient);
      if constexpr (!detail::is_no_gradient<GradientB>)
        detail::multiply_outer<Port>(output_gradient, a, b_gradient);
    });
}

TINYATTN_DIAGNOSTIC(class First, matmul_backward(const First&, ...),
                    "matmul_backward takes (a, b, output_gradient, a_gradient, b_gradient): "
                    "tensors of float; gradients are neither const nor temporaries")
TINYATTN_DIAGNOSTIC(class First, matmul_transposed_backward(const First&, ...),
                    "matmul_transposed_backward takes (a, b, output_gradient, a_gradient, "
                    "b_gradient): tensors of float; gradients are neither const nor temporaries")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
