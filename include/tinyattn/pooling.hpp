// SPDX-License-Identifier: MIT
//
// Reductions over tokens: what a whole input comes to, feature by feature.
#pragma once

#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/token_checks.hpp"
#include "tinyattn/kernel/pooling.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Reduces the first `count` tokens of each matrix of a batch by reduce(port, rows, cols, x, out).
template <class TensorX, class Out>
constexpr void reduce_tokens(const TensorX& x, std::size_t count, Out& out,
                             const auto& reduce) noexcept {
  on_native_port([&](auto port) {
    for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i)
      reduce(port, count, LayoutOf<TensorX>::cols, input(x, i),
             out.data() + i * LayoutOf<Out>::stride);
  });
}

// The same of all tokens, in both forms; and of a number of tokens that is checked first.
template <class TensorX>
constexpr auto reduce_all_tokens(const TensorX& x, const auto& reduce, auto&... out) noexcept {
  using Layout = LayoutOf<TensorX>;
  return into<WithBatch<TensorX, Layout::cols>>(
      [&](auto& to) {
        if constexpr (check_tokens<TensorX>() && check_pooled<TensorX, decltype(to)>())
          reduce_tokens(x, Layout::rows, to, reduce);
      },
      out...);
}
template <class TensorX, class Out>
constexpr Status reduce_some_tokens(const TensorX& x, std::size_t count, Out& out,
                                    const auto& reduce) noexcept {
  const Status status = check_count<TensorX>(count);
  if constexpr (check_tokens<TensorX>() && check_pooled<TensorX, Out>())
    if (status == Status::ok) reduce_tokens(x, count, out, reduce);
  return status;
}

inline constexpr auto mean_of_rows = [](auto port, auto... rows) TINYATTN_INLINE_LAMBDA {
  kernel::mean_of_rows<decltype(port)>(rows...);
};
inline constexpr auto maximum_of_rows = [](auto port, auto... rows) TINYATTN_INLINE_LAMBDA {
  kernel::maximum_of_rows<decltype(port)>(rows...);
};

}  // namespace detail

// The mean over tokens: rows of x are added in rising order, and the sum is multiplied by the float
// 1 / tokens. x is [..., tokens, features], out [..., features].
template <tensor_like TensorX, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto mean(const TensorX& x, Out&... out) noexcept {
  return detail::reduce_all_tokens(x, detail::mean_of_rows, out...);
}

// The same over the first `count` tokens. Returns no_tokens for 0, too_many_tokens for more than x
// has.
template <tensor_like TensorX, tensor_like Out>
constexpr Status mean(const TensorX& x, std::size_t count, Out& out) noexcept {
  return detail::reduce_some_tokens(x, count, out, detail::mean_of_rows);
}

TINYATTN_DIAGNOSTIC(class First, mean(const First&, detail::Anything, ...),
                    "mean takes (x), (x, out) or (x, count, out): tensors of float; out is neither "
                    "const nor a temporary")

// The maximum over tokens, as torch.amax: a NaN makes its feature NaN. +0 is more than -0. x is
// [..., tokens, features], out [..., features].
template <tensor_like TensorX, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto largest(const TensorX& x, Out&... out) noexcept {
  return detail::reduce_all_tokens(x, detail::maximum_of_rows, out...);
}

// The same over the first `count` tokens. Returns no_tokens for 0, too_many_tokens for more than x
// has.
template <tensor_like TensorX, tensor_like Out>
constexpr Status largest(const TensorX& x, std::size_t count, Out& out) noexcept {
  return detail::reduce_some_tokens(x, count, out, detail::maximum_of_rows);
}

TINYATTN_DIAGNOSTIC(class First, largest(const First&, detail::Anything, ...),
                    "largest takes (x), (x, out) or (x, count, out): tensors of float; out is "
                    "neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
