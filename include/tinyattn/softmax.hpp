// SPDX-License-Identifier: MIT
//
// Softmax and its relatives, over the last dimension. They sum each row in sixteen lanes, and
// multiply it by the reciprocal of its sum.
#pragma once

#include "tinyattn/detail/rows.hpp"
#include "tinyattn/kernel/softmax.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <class TensorM, class Out>
constexpr void softmax_rows(const TensorM& m, float scale, Out& out) noexcept {
  on_native_port([&](auto port) {
    using Port = decltype(port);
    using LayoutM = LayoutOf<TensorM>;
    constexpr std::size_t rows = LayoutM::batch * LayoutM::rows, cols = LayoutM::cols;
    const kernel::Output to{out.data(), LayoutOf<Out>::stride};
    kernel::Dense from{m.data(), LayoutM::stride};
    if (kernel::is_no_scale(scale)) {
      kernel::level_rows<Port>(rows, cols, from, to);
      from = to;
      scale = 1.0f;
    }
    const auto end_of = [](std::size_t) { return LayoutM::cols; };
    if constexpr (kernel::has_few_vectors<Port, cols>)
      kernel::softmax_of_short_rows<kernel::narrowed<Port, cols>, cols>(rows, from, to, end_of,
                                                                        scale);
    else
      kernel::softmax<Port, cols % Port::lanes == 0>(rows, from, to, end_of, scale);
  });
}

}  // namespace detail

// Computes the softmax of each row of scale * m: e^(scale * (m[j] - maximum of the row)), divided
// by the sum of these over the row. m is [..., rows, cols] or a Vector, and `out` has the same
// shape. -infinity becomes 0; a row in which all is -infinity becomes zeros; a NaN makes its row
// NaN. scale must be >= 0, and counts as 0 below 2^-126: then all elements but -infinity get the
// same value. `out` may be m.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto softmax(const TensorM& m, float scale, Out&... out) noexcept {
  return detail::into<detail::Like<TensorM>>(
      [&](auto& to) {
        if constexpr (detail::check_rows<TensorM, decltype(to)>())
          detail::softmax_rows(m, scale, to);
      },
      out...);
}

template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto softmax(const TensorM& m, Out&... out) noexcept { return softmax(m, 1.0f, out...); }

TINYATTN_DIAGNOSTIC(class First, softmax(const First&, detail::Anything, ...),
                    "softmax takes (m), (m, scale), (m, out) or (m, scale, out): tensors of float "
                    "of one shape; out is neither const nor a temporary")

// Multiplies each row of m [..., rows, cols] by the reciprocal of its sum. The reciprocal of a sum
// below 2^-128 is infinite, but a row whose sum is 0 becomes zeros with the signs of its elements.
// `out` may be m.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto normalize(const TensorM& m, Out&... out) noexcept {
  return detail::map_rows(
      m,
      [](auto port, const float* from, float* to, std::size_t count) {
        kernel::normalize_rows<decltype(port)>({from, 0}, {to, 0}, count);
      },
      out...);
}

template <class First>
constexpr detail::Diagnosed normalize(const First&, detail::Anything, ...) noexcept {
  return detail::diagnose_rows<First>();
}

// Computes softmax as it is defined, e^m[j] divided by the sum of these over the row: it overflows
// above 88.7, and gives zeros where every e^m[j] is 0. softmax avoids both. `out` may be m.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto softmax_naive(const TensorM& m, Out&... out) noexcept {
  return detail::map_rows(
      m,
      [](auto port, const float* from, float* to, std::size_t count) {
        using Port = decltype(port);
        kernel::transform_row<Port>(from, to, count, [](auto x) { return kernel::exp<Port>(x); });
        kernel::normalize_rows<Port>({to, 0}, {to, 0}, count);
      },
      out...);
}

template <class First>
constexpr detail::Diagnosed softmax_naive(const First&, detail::Anything, ...) noexcept {
  return detail::diagnose_rows<First>();
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
