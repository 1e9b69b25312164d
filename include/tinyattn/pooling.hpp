// SPDX-License-Identifier: MIT
//
// Pools, feature by feature: of all tokens, what a whole input comes to, and of windows of tokens
// or images.
#pragma once

#include "tinyattn/detail/images.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/kernel/pooling.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// The windows of a pool, as of torch.nn: over tokens each size is a number, over images one number
// or {height, width}.
struct PoolConfig {
  Size2d kernel;                  // of a window
  Size2d stride = kernel;         // how far apart windows begin
  Size2d padding = 0;             // around x; at most half of kernel
  Size2d dilation = 1;            // how far apart the elements of a window are; 1 for a mean
  bool ceil_mode = false;         // whether the last window may end after the padding
  bool count_include_pad = true;  // whether a mean counts the padding, as zeros
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// --- Of tokens ---

namespace detail {

// Whether Out has a row for each matrix of TensorX: [..., features]. One row may be a view.
template <class TensorX, class Out>
inline constexpr bool is_pooled = same_shape<Out, WithBatch<TensorX, LayoutOf<TensorX>::cols>> ||
                                  (LayoutOf<TensorX>::batch == 1 &&
                                   same_shape<Out, Matrix<float, 1, LayoutOf<TensorX>::cols>>);

template <class TensorX>
consteval bool check_tokens() noexcept {
  constexpr bool tokens = LayoutOf<TensorX>::rank > 1, floats = holds_floats<TensorX>;
  static_assert(tokens, "x must have a row for each token: [..., tokens, features]");
  static_assert(floats, "x must hold floats");
  return tokens && floats;
}

template <class TensorX, class Out>
consteval bool check_pooled() noexcept {
  constexpr bool writable = is_writable<Out>, fits = is_pooled<TensorX, Out>;
  static_assert(writable, "out must hold floats, and not be const");
  static_assert(!writable || fits, "out must have the shape of x, but no axis of tokens");
  return writable && fits;
}

// Whether `count` of the tokens of TensorX can be reduced.
template <class TensorX>
constexpr Status check_count(std::size_t count) noexcept {
  if (count == 0) return Status::no_tokens;
  return count <= LayoutOf<TensorX>::rows ? Status::ok : Status::too_many_tokens;
}

// Reduces the first `count` tokens of each matrix of a batch.
template <class Reduce, class TensorX, class Out>
constexpr void reduce_tokens(const TensorX& x, std::size_t count, Out& out) noexcept {
  on_native_port([&](auto port) {
    for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i)
      kernel::reduce_rows<decltype(port), Reduce>(count, LayoutOf<TensorX>::cols, input(x, i),
                                                  out.data() + i * LayoutOf<Out>::stride);
  });
}

// The same of all tokens, in both forms; and of a number of tokens that is checked first.
template <class Reduce, class TensorX>
constexpr auto reduce_all_tokens(const TensorX& x, auto&... out) noexcept {
  using Layout = LayoutOf<TensorX>;
  return into<WithBatch<TensorX, Layout::cols>>(
      [&](auto& to) {
        if constexpr (check_tokens<TensorX>() && check_pooled<TensorX, decltype(to)>())
          reduce_tokens<Reduce>(x, Layout::rows, to);
      },
      out...);
}
template <class Reduce, class TensorX, class Out>
constexpr Status reduce_some_tokens(const TensorX& x, std::size_t count, Out& out) noexcept {
  const Status status = check_count<TensorX>(count);
  if constexpr (check_tokens<TensorX>() && check_pooled<TensorX, Out>())
    if (status == Status::ok) reduce_tokens<Reduce>(x, count, out);
  return status;
}

}  // namespace detail

// The mean over tokens: rows of x are added in rising order, and the sum is multiplied by the float
// 1 / tokens. x is [..., tokens, features], out [..., features].
template <tensor_like TensorX, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto mean(const TensorX& x, Out&... out) noexcept {
  return detail::reduce_all_tokens<kernel::Mean>(x, out...);
}

// The same over the first `count` tokens. Returns no_tokens for 0, too_many_tokens for more than x
// has.
template <tensor_like TensorX, tensor_like Out>
constexpr Status mean(const TensorX& x, std::size_t count, Out& out) noexcept {
  return detail::reduce_some_tokens<kernel::Mean>(x, count, out);
}

TINYATTN_DIAGNOSTIC(class First, mean(const First&, detail::Anything, ...),
                    "mean takes (x), (x, out) or (x, count, out): tensors of float; out is neither "
                    "const nor a temporary")

// The maximum over tokens, as torch.amax: a NaN makes its feature NaN. +0 is more than -0. x is
// [..., tokens, features], out [..., features].
template <tensor_like TensorX, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto largest(const TensorX& x, Out&... out) noexcept {
  return detail::reduce_all_tokens<kernel::Maximum>(x, out...);
}

// The same over the first `count` tokens. Returns no_tokens for 0, too_many_tokens for more than x
// has.
template <tensor_like TensorX, tensor_like Out>
constexpr Status largest(const TensorX& x, std::size_t count, Out& out) noexcept {
  return detail::reduce_some_tokens<kernel::Maximum>(x, count, out);
}

TINYATTN_DIAGNOSTIC(class First, largest(const First&, detail::Anything, ...),
                    "largest takes (x), (x, out) or (x, count, out): tensors of float; out is "
                    "neither const nor a temporary")

// --- Of windows ---

namespace detail {

template <PoolConfig c>
struct MovingWindows {
  static_assert(check_windows<c>());
  static_assert(c.padding.height <= c.kernel.height / 2 && c.padding.width <= c.kernel.width / 2,
                "padding must be at most half of kernel");
  static constexpr bool counts_padding = c.count_include_pad,
                        is_dilated = c.dilation.height != 1 || c.dilation.width != 1;
  template <class Input, class To = Input>
  static constexpr kernel::Axes axes = axes_of<c, Input, To>();
};

template <Size2d windows>
struct EqualWindows {
  static constexpr bool counts_padding = false, is_dilated = false;
  template <class Input, class To = Input>
  static constexpr kernel::Axes axes = {
      {Input::height, Input::row, To::row, 1, 1, 0, 1, false,
       Input::height == 1 ? 1 : windows.height},
      {Input::width, Input::step, To::step, 1, 1, 0, 1, false, windows.width}};
};

template <class Of, class TensorX, class Input, class Out>
consteval bool check_pool() noexcept {
  constexpr kernel::Axes axes = Of::template axes<Input>;
  constexpr bool floats = holds_floats<TensorX>, writable = is_writable<Out>,
                 is_large = axes.height.count() != 0 && axes.width.count() != 0,
                 fits = same_shape<Out, WindowsOf<axes, Input, Input::features>>;
  static_assert(floats, "x must hold floats");
  static_assert(Input::fits,
                "x must be [..., tokens, features], or [..., height, width, features]");
  static_assert(is_large, "the kernel is larger than x and its padding");
  static_assert(writable, "out must hold floats, and not be const");
  static_assert(!Input::fits || !is_large || !writable || fits,
                "out must have the shape of x, but an element for each window");
  return floats && Input::fits && is_large && writable && fits;
}

// What is called as pool(x), or as pool(x, out): the result of Reduce for each window of x.
template <class Reduce, template <class, std::size_t> class As, class Of>
struct Pool {
  static_assert(!Reduce::is_mean || !Of::is_dilated, "a mean takes a dilation of 1");

  template <tensor_like TensorX, tensor_like... Out>
  requires at_most_one<Out...>
  constexpr auto operator()(const TensorX& x, Out&... out) const noexcept {
    using Input = As<TensorX, 0>;
    return into<WindowsOf<Of::template axes<Input>, Input, Input::features>>(
        [&]<class To>(To& to) TINYATTN_INLINE_LAMBDA {
          if constexpr (check_pool<Of, TensorX, Input, To>())
            on_native_port([&](auto port) {
              for (std::size_t i = 0; i < Input::batch; ++i)
                kernel::pool<decltype(port), Reduce>(
                    Of::template axes<Input, As<To, 0>>, Input::features, Of::counts_padding,
                    x.data() + i * Input::height * Input::row,
                    to.data() + i * As<To, 0>::height * As<To, 0>::row);
            });
        },
        out...);
  }
  TINYATTN_DIAGNOSTIC(class First, operator()(const First&, Anything, ...) const,
                      "a pool takes (x) or (x, out): tensors of float; out is neither const nor a "
                      "temporary")
};

}  // namespace detail

// torch.nn.MaxPool1d on the transpose, max_pool1d<config>(x) or (x, out): the maximum of each
// window of x [..., tokens, features]; out is [..., windows, features]. A NaN makes its feature
// NaN, +0 is more than -0, and a window without an element of x has -infinity.
template <PoolConfig config>
inline constexpr detail::Pool<kernel::Maximum, detail::Tokens, detail::MovingWindows<config>>
    max_pool1d{};
// torch.nn.AvgPool1d on the transpose: elements of a window are added in rising order, row by row,
// and the sum is multiplied by the float 1 / count.
template <PoolConfig config>
inline constexpr detail::Pool<kernel::Mean, detail::Tokens, detail::MovingWindows<config>>
    avg_pool1d{};
// torch.nn.MaxPool2d, channels last: x is [..., height, width, features].
template <PoolConfig config>
inline constexpr detail::Pool<kernel::Maximum, detail::Images, detail::MovingWindows<config>>
    max_pool2d{};
// torch.nn.AvgPool2d, of the same shapes.
template <PoolConfig config>
inline constexpr detail::Pool<kernel::Mean, detail::Images, detail::MovingWindows<config>>
    avg_pool2d{};

// torch.nn.AdaptiveAvgPool1d on the transpose: an axis of `size` elements becomes n windows, of
// which window i begins at i * size / n, rounded down, and ends at (i + 1) * size / n, rounded up.
template <std::size_t n>
inline constexpr detail::Pool<kernel::Mean, detail::Tokens, detail::EqualWindows<n>>
    adaptive_avg_pool1d{};
// torch.nn.AdaptiveMaxPool1d, of these windows.
template <std::size_t n>
inline constexpr detail::Pool<kernel::Maximum, detail::Tokens, detail::EqualWindows<n>>
    adaptive_max_pool1d{};
// torch.nn.AdaptiveAvgPool2d, channels last: n windows are one number, or {height, width}.
template <Size2d n>
inline constexpr detail::Pool<kernel::Mean, detail::Images, detail::EqualWindows<n>>
    adaptive_avg_pool2d{};
// torch.nn.AdaptiveMaxPool2d, of these windows.
template <Size2d n>
inline constexpr detail::Pool<kernel::Maximum, detail::Images, detail::EqualWindows<n>>
    adaptive_max_pool2d{};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
