// SPDX-License-Identifier: MIT
//
// Operations that map each row of a tensor to a row of another.
#pragma once

#include "tinyattn/shape.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// A static_assert diagnoses a wrong m or out; the caller then computes nothing.
template <class TensorM, class Out>
consteval bool check_rows() noexcept {
  constexpr bool floats = holds_floats<TensorM>, writable = is_writable<Out>;
  static_assert(floats, "m must hold floats");
  static_assert(!floats || writable, "out must hold floats, and not be const");
  static_assert(!floats || !writable || same_shape<TensorM, Out>, "out must have the shape of m");
  return floats && writable && same_shape<TensorM, Out>;
}

template <class TensorX, class Mean, class InverseDeviation, class Out>
consteval bool check_standardize() noexcept {
  using Features = Vector<float, LayoutOf<TensorX>::cols>;
  constexpr bool fits = same_shape<Mean, Features> && same_shape<InverseDeviation, Features>;
  static_assert(fits,
                "mean and inverse_deviation must be vectors of float, an element for each feature");
  return check_rows<TensorX, Out>() && fits;
}

// Calls step(from, to, count) for every row of m and of out.
template <class TensorM, class Out>
TINYATTN_ALWAYS_INLINE constexpr void for_each_row(const TensorM& m, Out& out,
                                                   const auto& step) noexcept {
  using LayoutM = LayoutOf<TensorM>;
  for (std::size_t i = 0; i < LayoutM::batch * LayoutM::rows; ++i)
    step(m.data() + i * LayoutM::stride, out.data() + i * LayoutOf<Out>::stride, LayoutM::cols);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
