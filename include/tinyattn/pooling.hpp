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

// Calls step(rows, from, to) for each matrix of a batch.
template <class TensorX, class Out>
TINYATTN_ALWAYS_INLINE constexpr void for_each_pool(const TensorX& x, Out& out,
                                                    const auto& step) noexcept {
  for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i)
    step(input(x, i), out.data() + i * LayoutOf<Out>::stride);
}

template <class TensorX, class Out>
constexpr void mean_of(const TensorX& x, std::size_t count, Out& out) noexcept {
  on_native_port([&](auto port) {
    for_each_pool(x, out, [&](kernel::Dense from, float* to) {
      kernel::mean_of_rows<decltype(port)>(count, LayoutOf<TensorX>::cols, from, to);
    });
  });
}

template <class TensorX, class Out>
constexpr void largest_of(const TensorX& x, std::size_t count, Out& out) noexcept {
  on_native_port([&](auto port) {
    for_each_pool(x, out, [&](kernel::Dense from, float* to) {
      kernel::maximum_of_rows<decltype(port)>(count, LayoutOf<TensorX>::cols, from, to);
    });
  });
}

}  // namespace detail

// The mean over tokens: rows of x are added in rising order, and the sum is multiplied by the float
// 1 / tokens. x is [..., tokens, features], out [..., features].
template <tensor_like TensorX, tensor_like Out>
constexpr void mean(const TensorX& x, Out& out) noexcept {
  if constexpr (detail::check_pooling<TensorX, Out>())
    detail::mean_of(x, detail::LayoutOf<TensorX>::rows, out);
}

// The same over the first `count` tokens. Returns no_tokens for 0, too_many_tokens for more than x
// has.
template <tensor_like TensorX, tensor_like Out>
constexpr Status mean(const TensorX& x, std::size_t count, Out& out) noexcept {
  if constexpr (detail::check_pooling<TensorX, Out>()) {
    const Status status = detail::check_count<TensorX>(count);
    if (status == Status::ok) detail::mean_of(x, count, out);
    return status;
  }
  return Status::ok;
}

// By value: the result is on the stack.
template <tensor_like TensorX>
constexpr auto mean(const TensorX& x) noexcept {
  detail::WithBatch<TensorX, detail::LayoutOf<TensorX>::cols> out;
  mean(x, out);
  return out;
}

template <class TensorX>
constexpr detail::Diagnosed mean(const TensorX&, detail::Anything, ...) noexcept {
  static_assert(detail::no_such_call<TensorX>,
                "mean takes (x), (x, out) or (x, count, out): tensors of float; out is neither "
                "const nor a temporary");
  return {};
}

// The maximum over tokens, as torch.amax: a NaN makes its feature NaN. +0 is more than -0. x is
// [..., tokens, features], out [..., features].
template <tensor_like TensorX, tensor_like Out>
constexpr void largest(const TensorX& x, Out& out) noexcept {
  if constexpr (detail::check_pooling<TensorX, Out>())
    detail::largest_of(x, detail::LayoutOf<TensorX>::rows, out);
}

// The same over the first `count` tokens. Returns no_tokens for 0, too_many_tokens for more than x
// has.
template <tensor_like TensorX, tensor_like Out>
constexpr Status largest(const TensorX& x, std::size_t count, Out& out) noexcept {
  if constexpr (detail::check_pooling<TensorX, Out>()) {
    const Status status = detail::check_count<TensorX>(count);
    if (status == Status::ok) detail::largest_of(x, count, out);
    return status;
  }
  return Status::ok;
}

// By value: the result is on the stack.
template <tensor_like TensorX>
constexpr auto largest(const TensorX& x) noexcept {
  detail::WithBatch<TensorX, detail::LayoutOf<TensorX>::cols> out;
  largest(x, out);
  return out;
}

template <class TensorX>
constexpr detail::Diagnosed largest(const TensorX&, detail::Anything, ...) noexcept {
  static_assert(detail::no_such_call<TensorX>,
                "largest takes (x), (x, out) or (x, count, out): tensors of float; out is neither "
                "const nor a temporary");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
