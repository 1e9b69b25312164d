// SPDX-License-Identifier: MIT
//
// The backward passes of functions: of products and sums, activations, softmax, and reductions over
// tokens.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/activation.hpp"
#include "tinyattn/training/kernel/pooling.hpp"
#include "tinyattn/training/kernel/product.hpp"
#include "tinyattn/training/kernel/row.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// --- Products ---

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
  using Result = detail::WithCols<TensorA, detail::LayoutOf<TensorB>::cols>;
  if constexpr (detail::check_matmul<TensorA, TensorB, Result>() &&
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
  using Result = detail::WithCols<TensorA, detail::LayoutOf<TensorB>::rows>;
  if constexpr (detail::check_matmul_transposed<TensorA, TensorB, Result>() &&
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

// --- Activations, and what else maps rows ---
//
// Maximum errors of the derivatives, which output_gradient multiplies, are those over all floats.
// At infinity a derivative is 1, at -infinity 0. A NaN in x gives NaN, but 0 by relu.

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
// input_gradient may be x or output_gradient. The derivative is within 2.6 * 2^-24, that of relu
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

// --- Reductions over tokens ---
//
// As in the forward pass, a number of tokens may follow x: then rows of input_gradient from there
// on are not touched.

namespace detail {

// A static_assert diagnoses wrong gradients of a reduction of x.
template <class TensorX, class OutputGradient, class InputGradient>
consteval bool check_backward_pooling() noexcept {
  if constexpr (check_tokens<TensorX>()) {
    using Result = std::conditional_t<is_pooled<TensorX, OutputGradient>, OutputGradient,
                                      WithBatch<TensorX, LayoutOf<TensorX>::cols>>;
    return check_backward_function<OutputGradient, Result, InputGradient, TensorX>();
  } else {
    return false;
  }
}

// Computes step(port, x, d_out, d_x) for each matrix of a batch, if it has `count` tokens.
template <class TensorX, class OutputGradient, class InputGradient>
constexpr Status backward_pools(const TensorX& x, std::size_t count,
                                const OutputGradient& output_gradient,
                                InputGradient& input_gradient, const auto& step) noexcept {
  if constexpr (check_backward_pooling<TensorX, OutputGradient, InputGradient>()) {
    const Status status = check_count<TensorX>(count);
    if (status != Status::ok) return status;
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i)
        step(port, input(x, i), row_at(output_gradient, i), output(input_gradient, i));
    });
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
