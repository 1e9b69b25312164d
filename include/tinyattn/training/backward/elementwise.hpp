// SPDX-License-Identifier: MIT
//
// The backward passes of functions of elements and of rows: of sums and products, activations,
// standardize and softmax.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/activation.hpp"
#include "tinyattn/training/kernel/row.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// --- Sums and products, element by element ---
//
// The gradient of a row that was broadcast is the sum over the rows of the other operand; a number
// has no gradient.

namespace detail {

// A static_assert diagnoses the gradient of an operand of a combination.
template <class Term, class Result, class OutputGradient, class Gradient>
consteval bool check_term_gradient() noexcept {
  if constexpr (tensor_like<Term>) {
    return check_backward_function<OutputGradient, Result, Gradient, Term>();
  } else {
    static_assert(is_no_gradient<Gradient>,
                  "the gradient of a number must be no_gradient: numbers are not trained");
    return is_no_gradient<Gradient>;
  }
}

// Whether a term has the shape of a result, or is one row of its columns, or a number.
template <class Term, class Result>
consteval bool is_row_or_whole() noexcept {
  if constexpr (tensor_like<Term>)
    return same_shape<Term, Result> ||
           (LayoutOf<Term>::rows == 1 && LayoutOf<Term>::cols == LayoutOf<Result>::cols &&
            LayoutOf<Term>::rank <= 2);
  else
    return true;
}

template <class TermA, class TermB, class OutputGradient, class GradientA, class GradientB>
consteval bool check_backward_terms() noexcept {
  using Result = Broadcast<TermA, TermB>;
  constexpr bool match = is_row_or_whole<TermA, Result>() && is_row_or_whole<TermB, Result>();
  static_assert(match,
                "a and b must have the same shape, or one must be a row for the other's rows");
  if constexpr (match && check_floats<TermA, TermB>())
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

// --- Activations and standardize ---

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
// input_gradient may be x or output_gradient. The derivative is within 4 * 2^-24, that of relu
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

// --- Softmax, from its result ---

// Computes the gradient of m, where weights = softmax(m, scale): input_gradient = scale * (weights
// * (output_gradient - D)), D the sum of weights * output_gradient over the row, in sixteen lanes.
// All have one shape; input_gradient may be weights or output_gradient. A scale below 2^-126 counts
// as 0, as in softmax.
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
