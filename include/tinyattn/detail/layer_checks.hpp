// SPDX-License-Identifier: MIT
//
// Checks of the inputs and outputs of layers other than attention, and calls by value. A
// static_assert diagnoses what is wrong, and the caller then computes nothing.
#pragma once

#include "tinyattn/shape.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// A static_assert diagnoses a layer that is called with anything but a tensor.
template <class TensorX>
consteval bool check_argument() noexcept {
  static_assert(tensor_like<TensorX> || no_such_call<TensorX>,
                "a module is called with tensors or views of float");
  return tensor_like<TensorX>;
}

// Calls a layer by value: its result, which has Cols columns, is on the stack.
template <std::size_t Cols, class TensorX>
constexpr auto by_value(const auto& layer, const TensorX& x, auto&... workspace) noexcept {
  if constexpr (check_argument<TensorX>()) {
    WithCols<TensorX, Cols> out;
    layer.forward(x, out, workspace...);
    return out;
  }
}

template <Weights weights>
consteval bool check_type_of_weights() noexcept {
  static_assert(weights <= Weights::int8, "weights must be Weights::f32 or int8");
  return true;
}

// Of a layer that maps each row of In features to one of Out features.
template <std::size_t In, std::size_t Out, class TensorX, class TensorY>
consteval bool check_rows_of_layer() noexcept {
  constexpr bool floats = holds_floats<TensorX>, writable = is_writable<TensorY>,
                 columns = LayoutOf<TensorX>::cols == In,
                 fits = same_shape<TensorY, WithCols<TensorX, Out>>;
  static_assert(floats, "x must hold floats");
  static_assert(columns, "x must have as many columns as the layer has inputs");
  static_assert(!floats || writable, "out must hold floats, and not be const");
  static_assert(!floats || !writable || fits,
                "out must have the rows of x and a column for each output");
  return floats && columns && writable && fits;
}

template <std::size_t Vocabulary, std::size_t Tokens, class Logits>
consteval bool check_logits() noexcept {
  using Layout = LayoutOf<Logits>;
  constexpr bool writable = is_writable<Logits>,
                 fits = Layout::batch == 1 && Layout::rows == Tokens && Layout::cols == Vocabulary;
  static_assert(writable, "logits must hold floats, and not be const");
  static_assert(!writable || fits, "logits must have a row for each token, of vocabulary columns");
  return writable && fits;
}

template <class Logits>
consteval bool check_one_row() noexcept {
  using Layout = LayoutOf<Logits>;
  constexpr bool is_row = Layout::batch == 1 && Layout::rows == 1;
  static_assert(is_row, "logits must be a vector: those of one token");
  static_assert(holds_floats<Logits>, "logits must hold floats");
  static_assert(Layout::cols <= 65536, "a Token counts no more than 65,536 logits");
  return is_row && holds_floats<Logits> && Layout::cols <= 65536;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
