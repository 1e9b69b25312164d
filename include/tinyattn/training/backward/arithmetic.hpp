// SPDX-License-Identifier: MIT
//
// The backward passes of sums, differences and products. The gradient of a row that was broadcast
// is the sum over the rows of the other operand; a number has no gradient.
#pragma once

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/row.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A static_assert diagnoses the gradient of an operand of a combination.
template <class Term, class Result, class OutputGradient, class Gradient>
consteval bool check_term_gradient() noexcept {
  if constexpr (tensor_like<Term>) {
    return check_backward<NoGradient, OutputGradient, Result, Gradient, Term, NoGradient>();
  } else {
    static_assert(is_no_gradient<Gradient>,
                  "the gradient of a number must be no_gradient: numbers are not trained");
    return is_no_gradient<Gradient>;
  }
}

template <class TermA, class TermB, class OutputGradient, class GradientA, class GradientB>
consteval bool check_backward_terms() noexcept {
  using Result = Combined<TermA, TermB>;
  if constexpr (check_terms<TermA, TermB, Result>())
    if constexpr (check_term_gradient<TermA, Result, OutputGradient, GradientA>())
      return check_term_gradient<TermB, Result, OutputGradient, GradientB>();
  return false;
}

// gradient += step(row i of d_out), rows rising, from +0.
template <class OutputGradient, class Gradient>
constexpr void reduce_rows(const OutputGradient& d_out, Gradient& gradient,
                           const auto& step) noexcept {
  using Layout = LayoutOf<OutputGradient>;
  fill_with_zeros(gradient);
  for (std::size_t i = 0; i < Layout::batch * Layout::rows; ++i) step(row_at(d_out, i), i);
}

// The gradient of a term of a sum: d_out, or the sum of its rows.
template <class OutputGradient, class Gradient>
constexpr void backward_of_sum(const OutputGradient& d_out, Gradient& gradient) noexcept {
  if constexpr (is_no_gradient<Gradient>)
    return;
  else if constexpr (same_shape<Gradient, OutputGradient>)
    for (std::size_t i = 0; i < LayoutOf<Gradient>::batch; ++i)
      copy_rows(d_out, i, matrix_at(gradient, i), LayoutOf<Gradient>::stride);
  else
    on_native_port([&](auto port) {
      reduce_rows(d_out, gradient, [&](const float* row, std::size_t) {
        kernel::add_row<decltype(port)>(row, gradient.data(), LayoutOf<Gradient>::cols);
      });
    });
}

// The gradient of a factor: d_out times the other, or the sum of the rows of that.
template <class OutputGradient, class Other, class Gradient>
constexpr void backward_of_product(const OutputGradient& d_out, const Other& other,
                                   Gradient& gradient) noexcept {
  if constexpr (is_no_gradient<Gradient>)
    return;
  else if constexpr (same_shape<Gradient, OutputGradient>)
    multiply(d_out, other, gradient);
  else
    on_native_port([&](auto port) {
      reduce_rows(d_out, gradient, [&](const float* row, std::size_t i) {
        kernel::add_products<decltype(port)>(row, row_at(other, i), gradient.data(),
                                             LayoutOf<Gradient>::cols);
      });
    });
}

}  // namespace detail

// Computes the gradients of add(a, b): each is output_gradient, or, of a row that was broadcast,
// one chain of additions from +0, rows rising. a and b are not read, but for their shapes.
//
//   a, a_gradient    [..., rows, cols], or a row [cols]; if a is a number, no_gradient
//   b, b_gradient    the same, but not two numbers
//   output_gradient  the shape of the larger one
//
// Either gradient may be no_gradient. a_gradient, which is written last, may be a or
// output_gradient; else nothing may overlap.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like OutputGradient,
          class GradientA, class GradientB>
constexpr void add_backward(const TermA&, const TermB&, const OutputGradient& output_gradient,
                            GradientA& a_gradient, GradientB& b_gradient) noexcept {
  if constexpr (detail::check_backward_terms<TermA, TermB, OutputGradient, GradientA,
                                             GradientB>()) {
    detail::backward_of_sum(output_gradient, b_gradient);
    detail::backward_of_sum(output_gradient, a_gradient);
  }
}

TINYATTN_DIAGNOSTIC(class First, add_backward(const First&, ...),
                    "add_backward takes (a, b, output_gradient, a_gradient, b_gradient): a and b "
                    "as add; gradients are neither const nor temporaries")

// Computes the gradients of multiply(a, b): a_gradient = output_gradient * b, b_gradient =
// output_gradient * a, or, of a row that was broadcast, one chain of fma from +0, rows rising.
// Operands as above.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like OutputGradient,
          class GradientA, class GradientB>
constexpr void multiply_backward(const TermA& a, const TermB& b,
                                 const OutputGradient& output_gradient, GradientA& a_gradient,
                                 GradientB& b_gradient) noexcept {
  if constexpr (detail::check_backward_terms<TermA, TermB, OutputGradient, GradientA,
                                             GradientB>()) {
    detail::backward_of_product(output_gradient, a, b_gradient);
    detail::backward_of_product(output_gradient, b, a_gradient);
  }
}

TINYATTN_DIAGNOSTIC(class First, multiply_backward(const First&, ...),
                    "multiply_backward takes (a, b, output_gradient, a_gradient, b_gradient): a "
                    "and b as multiply; gradients are neither const nor temporaries")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
