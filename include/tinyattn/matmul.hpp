// SPDX-License-Identifier: MIT
//
// Products of vectors and matrices. Each output element is one sequential sum of fused
// multiply-adds, which starts at +0 and takes the inner index in increasing order: the same bits on
// every target.
#pragma once

#include "tinyattn/detail/axes.hpp"
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

// The tensor of products whose leading extents are repeated for each other: those of a and b, then
// the rows of a and Cols.
template <class TensorA, class TensorB, std::size_t Cols, std::size_t... Axis>
auto of_products(std::index_sequence<Axis...>)
    -> Tensor<float, largest_extent<TensorA, TensorB>(Axis, sizeof...(Axis) + 2)...,
              LayoutOf<TensorA>::rows, Cols>;
template <class TensorA, class TensorB, std::size_t Cols>
using OfProducts = decltype(of_products<TensorA, TensorB, Cols>(
    std::make_index_sequence<largest_rank<TensorA, TensorB>() - 2>{}));

// Whether leading extents differ, but can be repeated for each other.
template <class TensorA, class TensorB>
consteval bool repeat_for_each_other() noexcept {
  constexpr std::size_t rank = largest_rank<TensorA, TensorB>();
  bool match = Axes<TensorA>::rank > 1 && Axes<TensorB>::rank > 2 && !same_batch<TensorA, TensorB>;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis)
    match = match && match_at<TensorA, TensorB>(axis, rank);
  return match;
}
template <class TensorA, class TensorB>
concept repeating = repeat_for_each_other<TensorA, TensorB>();

// The same as multiply_batch, in which matrices of either side are repeated.
template <class Right, std::size_t Cols, kernel::Shape shape>
constexpr void multiply_repeated(const auto& a, const auto& b, auto& out) noexcept {
  using TensorA = std::remove_cvref_t<decltype(a)>;
  using TensorB = std::remove_cvref_t<decltype(b)>;
  using Out = std::remove_cvref_t<decltype(out)>;
  constexpr auto walk = [] {
    constexpr std::size_t rank = Axes<Out>::rank;
    kernel::Walk<3, rank> result;
    result.add({1, {}});
    for (std::size_t axis = 0; axis + 2 < rank; ++axis)
      result.add({Axes<Out>::extents[axis],
                  {stride_at<Out>(axis, rank), stride_at<TensorA>(axis, rank),
                   stride_at<TensorB>(axis, rank)}});
    return result;
  }();
  on_native_port([&](auto port) {
    kernel::for_each_row<walk>([&](const auto& at) {
      constexpr auto row = walk.innermost();
      for (std::size_t i = 0; i < row.extent; ++i)
        kernel::matmul_of_shape<decltype(port), shape>(kernel::Product<kernel::Dense, Right>{
            LayoutOf<TensorA>::rows,
            LayoutOf<TensorA>::cols,
            Cols,
            {a.data() + at[1] + kernel::offset(i, row.strides[1]), LayoutOf<TensorA>::stride},
            {kernel::Dense{b.data() + at[2] + kernel::offset(i, row.strides[2]),
                           LayoutOf<TensorB>::stride}},
            nullptr,
            {out.data() + at[0] + kernel::offset(i, row.strides[0]), LayoutOf<Out>::stride}});
    });
  });
}

template <class Right, std::size_t Inner, std::size_t Cols, class TensorA, class TensorB>
constexpr auto products(const TensorA& a, const TensorB& b, auto&... out) noexcept {
  using LayoutA = LayoutOf<TensorA>;
  using Result = OfProducts<TensorA, TensorB, Cols>;
  constexpr kernel::Shape shape = kernel::is_transposed<Right>
                                      ? kernel::Shape{LayoutA::rows}
                                      : kernel::Shape{LayoutA::rows, Inner, Cols};
  return into<Result>(
      [&](auto& to) {
        if constexpr (check_products<TensorA, TensorB, decltype(to), Result,
                                     LayoutA::cols == Inner>())
          multiply_repeated<Right, Cols, shape>(a, b, to);
      },
      out...);
}

}  // namespace detail

// out = a . b
//
//   a    [..., rows, inner], or a Vector [inner]
//   b    [inner, cols], for the whole batch of a, or one for each batch element
//   out  the shape of a, but cols columns; may not overlap a or b
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires(detail::at_most_one<Out...> && !detail::repeating<TensorA, TensorB>) constexpr auto matmul(
    const TensorA& a, const TensorB& b, Out&... out) noexcept {
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

// The same with leading extents of a and b that are repeated for each other, as PyTorch does.
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires(detail::at_most_one<Out...>&& detail::repeating<TensorA, TensorB>) constexpr auto matmul(
    const TensorA& a, const TensorB& b, Out&... out) noexcept {
  using LayoutB = detail::LayoutOf<TensorB>;
  return detail::products<kernel::Dense, LayoutB::rows, LayoutB::cols>(a, b, out...);
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
requires(
    detail::at_most_one<Out...> &&
    !detail::repeating<TensorA, TensorB>) constexpr auto matmul_transposed(const TensorA& a,
                                                                           const TensorB& b,
                                                                           Out&... out) noexcept {
  constexpr std::size_t cols = detail::LayoutOf<TensorB>::rows;
  return detail::into<detail::WithCols<TensorA, cols>>(
      [&](auto& to) {
        if constexpr (detail::check_matmul_transposed<TensorA, TensorB, decltype(to)>())
          detail::multiply_batch<kernel::Transposed<>, cols,
                                 kernel::Shape{detail::LayoutOf<TensorA>::rows}>(a, b, to);
      },
      out...);
}

// The same with leading extents of a and b that are repeated for each other.
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires(detail::at_most_one<Out...>&& detail::repeating<
         TensorA, TensorB>) constexpr auto matmul_transposed(const TensorA& a, const TensorB& b,
                                                             Out&... out) noexcept {
  using LayoutB = detail::LayoutOf<TensorB>;
  return detail::products<kernel::Transposed<>, LayoutB::cols, LayoutB::rows>(a, b, out...);
}

TINYATTN_DIAGNOSTIC(class First, matmul_transposed(const First&, ...),
                    "matmul_transposed takes (a, b) or (a, b, out): tensors of float; out is "
                    "neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
