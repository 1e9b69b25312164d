// SPDX-License-Identifier: MIT
//
// Functions that map each row of a tensor to a row of another.
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

// Computes each row of `out`, or of the result, from a row of m, by step(port, from, to, count).
template <class TensorM>
constexpr auto map_rows(const TensorM& m, const auto& step, auto&... out) noexcept {
  using LayoutM = LayoutOf<TensorM>;
  return into<Like<TensorM>>(
      [&]<class Out>(Out& to) TINYATTN_INLINE_LAMBDA {
        if constexpr (check_rows<TensorM, Out>())
          on_native_port([&](auto port) {
            for (std::size_t i = 0; i < LayoutM::batch * LayoutM::rows; ++i)
              step(port, m.data() + i * LayoutM::stride, to.data() + i * LayoutOf<Out>::stride,
                   LayoutM::cols);
          });
      },
      out...);
}

// Says in a sentence how such a function is called, if no other overload takes a call.
template <class First>
constexpr Diagnosed diagnose_rows() noexcept {
  static_assert(no_such_call<First>,
                "a function of rows takes (m) or (m, out): tensors of float of one shape; out is "
                "neither const nor a temporary");
  return {};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
