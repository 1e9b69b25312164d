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

// The walk through the matrices of `out`, a and b, of which one may be repeated for the other's.
template <class Out, class TensorA, class TensorB>
consteval auto walk_through_matrices() noexcept {
  constexpr std::size_t rank = Axes<Out>::rank;
  kernel::Walk<3, rank> walk;
  walk.add({1, {}});
  for (std::size_t axis = 0; axis + 2 < rank; ++axis)
    walk.add({Axes<Out>::extents[axis],
              {stride_at<Out>(axis, rank), stride_at<TensorA>(axis, rank),
               stride_at<TensorB>(axis, rank)}});
  return walk;
}

template <class Of, class Right, class TensorA, class TensorB, class Out>
TINYATTN_ALWAYS_INLINE constexpr void multiply_matrices(const TensorA& a, const TensorB& b,
                                                        Out& out) noexcept {
  constexpr kernel::Shape shape{LayoutOf<TensorA>::rows, Of::transposed ? 0 : Of::inner,
                                Of::transposed ? 0 : Of::cols};
  constexpr auto walk = walk_through_matrices<Out, TensorA, TensorB>();
  on_native_port([&](auto port) {
    kernel::for_each_row<walk>([&](const auto& at) TINYATTN_INLINE_LAMBDA {
      constexpr auto row = walk.innermost();
      for (std::size_t i = 0; i < row.extent; ++i)
        kernel::matmul_of_shape<decltype(port), shape>(kernel::Product<kernel::Dense, Right>{
            LayoutOf<TensorA>::rows,
            Of::inner,
            Of::cols,
            {a.data() + at[1] + kernel::offset(i, row.strides[1]), LayoutOf<TensorA>::stride},
            {kernel::Dense{b.data() + at[2] + kernel::offset(i, row.strides[2]),
                           LayoutOf<TensorB>::stride}},
            nullptr,
            {out.data() + at[0] + kernel::offset(i, row.strides[0]), LayoutOf<Out>::stride}});
    });
  });
}

template <class Right, class TensorA, class TensorB>
constexpr auto multiply_with(const TensorA& a, const TensorB& b, auto&... out) noexcept {
  using Of = ProductOf<Right, TensorA, TensorB>;
  return into<decltype(Of::result())>(
      [&]<class Out>(Out& to) {
        if constexpr (check_product<Of, TensorA, TensorB, Out>())
          multiply_matrices<Of, Right>(a, b, to);
      },
      out...);
}

}  // namespace detail

// out = a . b
//
//   a    [..., rows, inner], or a Vector [inner]
//   b    [inner, cols], for the whole batch of a, or one for each batch element
//   out  the shape of a, but cols columns; may not overlap a or b
//
// Leading extents of a and b that differ are repeated for each other, as PyTorch does; `out` has
// the larger ones.
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto matmul(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  return detail::multiply_with<kernel::Dense>(a, b, out...);
}

TINYATTN_DIAGNOSTIC(
    class First, matmul(const First&, ...),
    "matmul takes (a, b) or (a, b, out): tensors of float; out is neither const nor a temporary")

// out = a . b transposed: out[i][j] is the dot product of row i of a and row j of b, which is
// [cols, inner]. Else as matmul.
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto matmul_transposed(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  return detail::multiply_with<kernel::Transposed<>>(a, b, out...);
}

TINYATTN_DIAGNOSTIC(class First, matmul_transposed(const First&, ...),
                    "matmul_transposed takes (a, b) or (a, b, out): tensors of float; out is "
                    "neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
