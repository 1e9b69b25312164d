// SPDX-License-Identifier: MIT
//
// Shapes and checks of operations over tokens. A static_assert diagnoses what is wrong, and the
// caller then computes nothing.
#pragma once

#include "tinyattn/detail/images.hpp"
#include "tinyattn/status.hpp"

#include <cstddef>
#include <utility>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

template <class TensorX, std::size_t... Extents>
using WithBatch = decltype(with_batch<Extents...>(typename LayoutOf<TensorX>::batch_extents{}));

// The number of tokens that a convolution makes of `tokens`; 0 if the kernel is longer.
template <auto config>
constexpr std::size_t tokens_after(std::size_t tokens) noexcept {
  return kernel::Axis{tokens, 0, 0, config.kernel, config.stride, config.padding, config.dilation}
      .count();
}

// The result of a convolution of TensorX.
template <auto config, class TensorX>
using Convolved = WithBatch<TensorX,
                            tokens_after<config>(LayoutOf<TensorX>::rows) == 0
                                ? 1
                                : tokens_after<config>(LayoutOf<TensorX>::rows),
                            config.out>;

template <auto config, class TensorX>
consteval bool check_convolved() noexcept {
  using LayoutX = LayoutOf<TensorX>;
  constexpr bool tokens = LayoutX::rank > 1, floats = holds_floats<TensorX>,
                 columns = LayoutX::cols == config.in, dense = !has_gaps<TensorX>,
                 is_long = tokens_after<config>(LayoutX::rows) != 0;
  static_assert(tokens, "x must have a row for each token: [..., tokens, features]");
  static_assert(floats, "x must hold floats");
  static_assert(!tokens || columns, "x must have as many columns as the layer has inputs");
  static_assert(dense, "rows of x must follow each other without gaps: copy the columns of a view");
  static_assert(!tokens || is_long, "the kernel is longer than x and its padding");
  return tokens && floats && columns && dense && is_long;
}

template <auto config, class TensorX, class Out>
consteval bool check_convolution() noexcept {
  constexpr bool writable = is_writable<Out>, fits = same_shape<Out, Convolved<config, TensorX>>;
  static_assert(writable, "out must hold floats, and not be const");
  if constexpr (check_convolved<config, TensorX>()) {
    static_assert(!writable || fits,
                  "out must have a row for each token of the result, tokens_after(tokens), and a "
                  "column for each output");
    return writable && fits;
  } else {
    return false;
  }
}

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

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
