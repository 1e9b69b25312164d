// SPDX-License-Identifier: MIT
//
// Products of vectors and matrices. Each output element is one sequential sum of fused
// multiply-adds, which starts at +0 and takes the inner index in increasing order: the same bits on
// every target.
#pragma once

#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/product_checks.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Returns the sum of u[k] * v[k] for two vectors of the same size.
template <tensor_like TensorU, tensor_like TensorV>
constexpr float dot(const TensorU& u, const TensorV& v) noexcept {
  float sum = 0.0f;
  if constexpr (detail::check_dot<TensorU, TensorV>())
    on_native_port([&](auto port) {
      for (std::size_t k = 0; k < u.size(); ++k)
        sum = decltype(port)::one_lane::fma(u(k), v(k), sum);
    });
  return sum;
}

namespace detail {

// out = a . b, or a . b transposed, for every batch element: Right says how b is read.
template <class Right, std::size_t Cols, kernel::Shape shape, class TensorA>
TINYATTN_ALWAYS_INLINE constexpr void multiply_batch(const TensorA& a, const auto& b,
                                                     auto& out) noexcept {
  using LayoutA = LayoutOf<TensorA>;
  on_native_port([&](auto port) {
    for (std::size_t element = 0; element < LayoutA::batch; ++element)
      kernel::matmul_of_shape<decltype(port), shape>(
          kernel::Product<kernel::Dense, Right>{LayoutA::rows,
                                                LayoutA::cols,
                                                Cols,
                                                input(a, element),
                                                {input(b, element)},
                                                nullptr,
                                                output(out, element)});
  });
}

}  // namespace detail

// out = a . b
//
//   a    [..., rows, inner], or a Vector [inner]
//   b    [inner, cols], for the whole batch of a, or one for each batch element
//   out  the shape of a, but cols columns; may not overlap a or b
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto matmul(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  constexpr std::size_t cols = detail::LayoutOf<TensorB>::cols;
  return detail::into<detail::WithCols<TensorA, cols>>(
      [&](auto& to) {
        if constexpr (detail::check_matmul<TensorA, TensorB, decltype(to)>())
          detail::multiply_batch<kernel::Dense, cols,
                                 kernel::Shape{LayoutA::rows, LayoutA::cols, cols}>(a, b, to);
      },
      out...);
}

TINYATTN_DIAGNOSTIC(
    class First, matmul(const First&, ...),
    "matmul takes (a, b) or (a, b, out): tensors of float; out is neither const nor a temporary")

// out = a . b transposed: out[i][j] is the dot product of row i of a and row j of b.
//
//   a    [..., rows, inner], or a Vector [inner]
//   b    [cols, inner], for the whole batch of a, or one for each batch element
//   out  the shape of a, but cols columns; may not overlap a or b
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto matmul_transposed(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  constexpr std::size_t cols = detail::LayoutOf<TensorB>::rows;
  return detail::into<detail::WithCols<TensorA, cols>>(
      [&](auto& to) {
        if constexpr (detail::check_matmul_transposed<TensorA, TensorB, decltype(to)>())
          detail::multiply_batch<kernel::Transposed<>, cols,
                                 kernel::Shape{detail::LayoutOf<TensorA>::rows}>(a, b, to);
      },
      out...);
}

TINYATTN_DIAGNOSTIC(class First, matmul_transposed(const First&, ...),
                    "matmul_transposed takes (a, b) or (a, b, out): tensors of float; out is "
                    "neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
