// SPDX-License-Identifier: MIT
//
// Softmax and its relatives, over the last dimension. Each row is summed in sixteen lanes and multiplied
// by the reciprocal of its sum.
#pragma once

#include "tinyattn/kernel/softmax.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE {

namespace kernel {

template <class M>
using RowCount = Extent<detail::LayoutOf<M>::batch * detail::LayoutOf<M>::rows>;
template <class M>
using RowSize = Extent<detail::LayoutOf<M>::cols>;

// Row i of m and of out, for a number i.
template <class M, class Out>
constexpr auto rows_of(const M& m, Out& out) noexcept {
  static_assert(detail::holds_floats<M>, "m must hold floats");
  static_assert(detail::same_shape<M, Out>, "out must have the shape of m");
  return [&](std::size_t i) {
    return Row<false, RowSize<M>>{m.data() + i * detail::LayoutOf<M>::stride, out.data() + i * detail::LayoutOf<Out>::stride, {}};
  };
}

}  // namespace kernel

// e^(scale * (m[j] - max)) over their sum, row by row. An element of -infinity becomes 0, and a row of
// nothing else zeros; a NaN makes its row NaN. scale >= 0. `out` may be m.
template <tensor_like M, tensor_like Out>
constexpr void softmax(const M& m, float scale, Out& out) noexcept {
  on_native_port([&](auto port) {
    using Port = kernel::narrowed<decltype(port), kernel::RowSize<M>>;
    kernel::softmax_rows<Port>(kernel::RowCount<M>{}, kernel::RowSize<M>{}, kernel::rows_of(m, out), scale);
  });
}

template <tensor_like M, tensor_like Out>
constexpr void softmax(const M& m, Out& out) noexcept {
  softmax(m, 1.0f, out);
}

template <tensor_like M>
constexpr auto softmax(const M& m, float scale = 1.0f) noexcept {
  detail::Like<M> out;
  softmax(m, scale, out);
  return out;
}

// Each row multiplied by 1 / its sum, which is infinite below 2^-128; a row whose sum is 0 becomes zeros, signed
// as its elements. `out` may be m.
template <tensor_like M, tensor_like Out>
constexpr void normalize(const M& m, Out& out) noexcept {
  on_native_port([&](auto port) {
    using Port = kernel::narrowed<decltype(port), kernel::RowSize<M>>;
    for (std::size_t i = 0; i < kernel::RowCount<M>{}; ++i) kernel::normalize_row<Port>(kernel::rows_of(m, out)(i));
  });
}

template <tensor_like M>
constexpr auto normalize(const M& m) noexcept {
  detail::Like<M> out;
  normalize(m, out);
  return out;
}

// e^m[j] over their sum, as the definition says it: overflows above 88.7, and is zeros where every e^m[j] is 0,
// which softmax avoids. `out` may be m.
template <tensor_like M, tensor_like Out>
constexpr void softmax_naive(const M& m, Out& out) noexcept {
  on_native_port([&](auto port) {
    using Port = kernel::narrowed<decltype(port), kernel::RowSize<M>>;
    for (std::size_t i = 0; i < kernel::RowCount<M>{}; ++i) {
      const auto row = kernel::rows_of(m, out)(i);
      kernel::transform_row<Port>(row, [](auto x) { return kernel::exp<Port>(x); });
      kernel::normalize_row<Port>(row.in_place());
    }
  });
}

template <tensor_like M>
constexpr auto softmax_naive(const M& m) noexcept {
  detail::Like<M> out;
  softmax_naive(m, out);
  return out;
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE

TINYATTN_END
