// SPDX-License-Identifier: MIT
//
// The backward passes of copies: of rows, of transposes, of tensors next to each other, and of
// masks. A gradient goes to where an element came from, and is 0 where an element was left out. The
// inputs are not read, but for their shapes.
#pragma once

#include "tinyattn/mask.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/training/gradient.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A static_assert diagnoses wrong gradients of a and b, of which a copy has made Result.
template <class TensorA, class TensorB, class Result, class OutputGradient, class GradientA,
          class GradientB>
consteval bool check_backward_copy() noexcept {
  if constexpr (check_backward<NoGradient, OutputGradient, Result, GradientA, TensorA,
                               NoGradient>())
    return check_backward<NoGradient, OutputGradient, Result, GradientB, TensorB, NoGradient>();
  return false;
}

// Copies what lies `offset` elements after the first of each matrix of d_out.
template <class OutputGradient, class Gradient>
constexpr void copy_part(const OutputGradient& d_out, std::size_t offset,
                         Gradient& gradient) noexcept {
  if constexpr (!is_no_gradient<Gradient>)
    for (std::size_t k = 0; k < LayoutOf<Gradient>::batch; ++k)
      for (std::size_t i = 0; i < LayoutOf<Gradient>::rows; ++i)
        for (std::size_t j = 0; j < LayoutOf<Gradient>::cols; ++j)
          matrix_at(gradient, k)[i * LayoutOf<Gradient>::stride + j] =
              matrix_at(d_out, k)[offset + i * LayoutOf<OutputGradient>::stride + j];
}

}  // namespace detail

// Computes the gradient of m [rows, cols] from that of row(m, i), [cols]: other rows get zeros.
template <tensor_like TensorM, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void row_backward(const TensorM&, std::size_t i, const OutputGradient& output_gradient,
                            InputGradient& input_gradient) noexcept {
  constexpr bool is_matrix = detail::LayoutOf<TensorM>::rank == 2;
  static_assert(is_matrix, "row takes a matrix");
  if constexpr (is_matrix)
    if constexpr (detail::check_backward<NoGradient, OutputGradient,
                                         Vector<float, detail::LayoutOf<TensorM>::cols>,
                                         InputGradient, TensorM, NoGradient>()) {
      detail::fill_with_zeros(input_gradient);
      for (std::size_t j = 0; j < output_gradient.size(); ++j)
        input_gradient(i, j) = output_gradient(j);
    }
}

// Computes the gradient of m [rows, cols] from that of transpose(m), [cols, rows].
template <tensor_like TensorM, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void transpose_backward(const TensorM&, const OutputGradient& output_gradient,
                                  InputGradient& input_gradient) noexcept {
  using Layout = detail::LayoutOf<TensorM>;
  if constexpr (detail::check_backward<NoGradient, OutputGradient,
                                       Matrix<float, Layout::cols, Layout::rows>, InputGradient,
                                       TensorM, NoGradient>())
    transpose(output_gradient, input_gradient);
}

// Computes the gradients of a [..., rows, m] and b [..., rows, n] from that of concat_columns(a,
// b),
// [..., rows, m + n]. Either may be no_gradient.
template <tensor_like TensorA, tensor_like TensorB, tensor_like OutputGradient, class GradientA,
          class GradientB>
constexpr void concat_columns_backward(const TensorA&, const TensorB&,
                                       const OutputGradient& output_gradient, GradientA& a_gradient,
                                       GradientB& b_gradient) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  using LayoutB = detail::LayoutOf<TensorB>;
  constexpr bool rows = LayoutA::rows == LayoutB::rows && detail::same_batch<TensorA, TensorB>;
  static_assert(rows, "a and b must have the same number of rows");
  if constexpr (rows)
    if constexpr (detail::check_backward_copy<
                      TensorA, TensorB, detail::WithCols<TensorA, LayoutA::cols + LayoutB::cols>,
                      OutputGradient, GradientA, GradientB>()) {
      detail::copy_part(output_gradient, 0, a_gradient);
      detail::copy_part(output_gradient, LayoutA::cols, b_gradient);
    }
}

// Computes the gradients of a [..., m, cols] and b [..., n, cols], of which a vector is one row,
// from that of concat_rows(a, b), [..., m + n, cols]. Either may be no_gradient.
template <tensor_like TensorA, tensor_like TensorB, tensor_like OutputGradient, class GradientA,
          class GradientB>
constexpr void concat_rows_backward(const TensorA&, const TensorB&,
                                    const OutputGradient& output_gradient, GradientA& a_gradient,
                                    GradientB& b_gradient) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  constexpr bool cols =
      LayoutA::cols == detail::LayoutOf<TensorB>::cols && detail::same_batch<TensorA, TensorB>;
  static_assert(cols, "a and b must have the same number of columns");
  if constexpr (cols)
    if constexpr (detail::check_backward_copy<TensorA, TensorB,
                                              detail::WithRowsOfBoth<TensorA, TensorB>,
                                              OutputGradient, GradientA, GradientB>()) {
      detail::copy_part(output_gradient, 0, a_gradient);
      detail::copy_part(output_gradient, LayoutA::rows * detail::LayoutOf<OutputGradient>::stride,
                        b_gradient);
    }
}

// Computes the gradients of a and b, of one shape, from that of stack(a, b), which has a 2 before
// it. Either may be no_gradient.
template <std::size_t... Extents, tensor_like TensorB, tensor_like OutputGradient, class GradientA,
          class GradientB>
constexpr void stack_backward(const Tensor<float, Extents...>&, const TensorB&,
                              const OutputGradient& output_gradient, GradientA& a_gradient,
                              GradientB& b_gradient) noexcept {
  using TensorA = Tensor<float, Extents...>;
  constexpr bool match = detail::same_shape<TensorA, TensorB>;
  static_assert(match, "a and b must have the same shape");
  if constexpr (match)
    if constexpr (detail::check_backward_copy<TensorA, TensorB, Tensor<float, 2, Extents...>,
                                              OutputGradient, GradientA, GradientB>()) {
      detail::copy_part(output_gradient, 0, a_gradient);
      using LayoutA = detail::LayoutOf<TensorA>;
      detail::copy_part(output_gradient,
                        LayoutA::batch * LayoutA::rows * detail::LayoutOf<OutputGradient>::stride,
                        b_gradient);
    }
}

// Computes the gradient of m [..., rows, cols] from that of tril(m, diagonal), of the same shape.
// input_gradient may be output_gradient.
template <tensor_like TensorM, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void tril_backward(const TensorM&, std::ptrdiff_t diagonal,
                             const OutputGradient& output_gradient,
                             InputGradient& input_gradient) noexcept {
  if constexpr (detail::check_backward_rows<TensorM, OutputGradient, InputGradient>())
    tril(output_gradient, diagonal, input_gradient);
}

// The same of triu(m, diagonal).
template <tensor_like TensorM, tensor_like OutputGradient, tensor_like InputGradient>
constexpr void triu_backward(const TensorM&, std::ptrdiff_t diagonal,
                             const OutputGradient& output_gradient,
                             InputGradient& input_gradient) noexcept {
  if constexpr (detail::check_backward_rows<TensorM, OutputGradient, InputGradient>())
    triu(output_gradient, diagonal, input_gradient);
}

// The same of masked_fill(m, mask, value): 0 where the mask is true. Tensors, no views.
template <tensor_like TensorM, tensor_like Mask, tensor_like OutputGradient,
          tensor_like InputGradient>
constexpr void masked_fill_backward(const TensorM&, const Mask& mask,
                                    const OutputGradient& output_gradient,
                                    InputGradient& input_gradient) noexcept {
  if constexpr (detail::check_backward_rows<TensorM, OutputGradient, InputGradient>())
    masked_fill(output_gradient, mask, 0.0f, input_gradient);
}

template <class TensorM>
constexpr detail::Diagnosed row_backward(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "row_backward takes (m, i, output_gradient, input_gradient): tensors of float; "
                "input_gradient is neither const nor a temporary");
  return {};
}
template <class TensorM>
constexpr detail::Diagnosed transpose_backward(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "transpose_backward takes (m, output_gradient, input_gradient): tensors of float; "
                "input_gradient is neither const nor a temporary");
  return {};
}
template <class TensorA>
constexpr detail::Diagnosed concat_columns_backward(const TensorA&, ...) noexcept {
  static_assert(detail::no_such_call<TensorA>,
                "concat_columns_backward takes (a, b, output_gradient, a_gradient, b_gradient): "
                "tensors of float; gradients are neither const nor temporaries");
  return {};
}
template <class TensorA>
constexpr detail::Diagnosed concat_rows_backward(const TensorA&, ...) noexcept {
  static_assert(detail::no_such_call<TensorA>,
                "concat_rows_backward takes (a, b, output_gradient, a_gradient, b_gradient): "
                "tensors of float; gradients are neither const nor temporaries");
  return {};
}
template <class TensorA>
constexpr detail::Diagnosed stack_backward(const TensorA&, ...) noexcept {
  static_assert(detail::no_such_call<TensorA>,
                "stack_backward takes (a, b, output_gradient, a_gradient, b_gradient): tensors of "
                "float, no views; gradients are neither const nor temporaries");
  return {};
}
template <class TensorM>
constexpr detail::Diagnosed tril_backward(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "tril_backward takes (m, diagonal, output_gradient, input_gradient): tensors of "
                "float; input_gradient is neither const nor a temporary");
  return {};
}
template <class TensorM>
constexpr detail::Diagnosed triu_backward(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "triu_backward takes (m, diagonal, output_gradient, input_gradient): tensors of "
                "float; input_gradient is neither const nor a temporary");
  return {};
}
template <class TensorM>
constexpr detail::Diagnosed masked_fill_backward(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "masked_fill_backward takes (m, mask, output_gradient, input_gradient): tensors of "
                "float; input_gradient is neither const nor a temporary");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
