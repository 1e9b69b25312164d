// SPDX-License-Identifier: MIT
//
// Products of vectors and matrices. Each output element is one sequential sum of fused
// multiply-adds, which starts at +0 and takes the inner index in increasing order: the same bits on
// every target.
#pragma once

#include "tinyattn/detail/forms.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/product_checks.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <type_traits>

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

// out = a . b
//
//   a    [..., rows, inner], or a Vector [inner]
//   b    [inner, cols], for the whole batch of a, or one for each batch element
//   out  the shape of a, but cols columns; may not overlap a or b
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto matmul(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  using LayoutB = detail::LayoutOf<TensorB>;
  return detail::into<detail::WithCols<TensorA, LayoutB::cols>>(
      [&](auto& to) {
        if constexpr (detail::check_matmul<TensorA, TensorB, decltype(to)>())
          on_native_port([&](auto port) {
            for (std::size_t element = 0; element < LayoutA::batch; ++element)
              kernel::matmul_of_shape<decltype(port),
                                      kernel::Shape{LayoutA::rows, LayoutA::cols, LayoutB::cols}>(
                  {LayoutA::rows, LayoutA::cols, LayoutB::cols, detail::input(a, element),
                   detail::input(b, element), nullptr, detail::output(to, element)});
          });
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
  using LayoutA = detail::LayoutOf<TensorA>;
  using LayoutB = detail::LayoutOf<TensorB>;
  return detail::into<detail::WithCols<TensorA, LayoutB::rows>>(
      [&](auto& to) {
        if constexpr (detail::check_matmul_transposed<TensorA, TensorB, decltype(to)>())
          on_native_port([&](auto port) {
            for (std::size_t element = 0; element < LayoutA::batch; ++element)
              kernel::matmul_of_shape<decltype(port), kernel::Shape{LayoutA::rows}>(
                  kernel::Product<kernel::Dense, kernel::Transposed<>>{
                      LayoutA::rows,
                      LayoutA::cols,
                      LayoutB::rows,
                      detail::input(a, element),
                      {detail::input(b, element)},
                      nullptr,
                      detail::output(to, element)});
          });
      },
      out...);
}

TINYATTN_DIAGNOSTIC(class First, matmul_transposed(const First&, ...),
                    "matmul_transposed takes (a, b) or (a, b, out): tensors of float; out is "
                    "neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
