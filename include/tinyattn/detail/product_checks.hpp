// SPDX-License-Identifier: MIT
//
// Checks of the operands of a product. A static_assert diagnoses what is wrong, and the caller then
// computes nothing, so that no page of errors follows.
#pragma once

#include "tinyattn/shape.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

template <class TensorU, class TensorV>
consteval bool check_dot() noexcept {
  constexpr bool vectors = LayoutOf<TensorU>::rank == 1 && LayoutOf<TensorV>::rank == 1;
  constexpr bool floats = holds_floats<TensorU> && holds_floats<TensorV>;
  constexpr bool same_size = TensorU::size() == TensorV::size();
  static_assert(vectors, "u and v must be vectors");
  static_assert(floats, "u and v must hold floats");
  static_assert(!vectors || same_size, "u and v must have the same size");
  return vectors && floats && same_size;
}

template <class TensorA, class TensorB, class Out>
consteval bool check_operands() noexcept {
  constexpr bool floats = holds_floats<TensorA> && holds_floats<TensorB>;
  constexpr bool batches = LayoutOf<TensorB>::batch == 1 || same_batch<TensorA, TensorB>;
  static_assert(floats, "a and b must hold floats");
  static_assert(batches, "b must be one matrix, or as many as a has");
  static_assert(!floats || is_writable<Out>, "out must hold floats, and not be const");
  return floats && batches && is_writable<Out>;
}

template <class TensorA, class TensorB, class Out>
consteval bool check_matmul() noexcept {
  using LayoutB = LayoutOf<TensorB>;
  constexpr bool agree = LayoutOf<TensorA>::cols == LayoutB::rows;
  constexpr bool fits = same_shape<Out, WithCols<TensorA, LayoutB::cols>>;
  constexpr bool floats = check_operands<TensorA, TensorB, Out>();
  static_assert(!floats || agree, "columns of a must equal rows of b");
  static_assert(!floats || !agree || fits, "out must have the rows of a and the columns of b");
  return floats && agree && fits;
}

template <class TensorA, class TensorB, class Out>
consteval bool check_matmul_transposed() noexcept {
  using LayoutB = LayoutOf<TensorB>;
  constexpr bool agree = LayoutOf<TensorA>::cols == LayoutB::cols;
  constexpr bool fits = same_shape<Out, WithCols<TensorA, LayoutB::rows>>;
  constexpr bool floats = check_operands<TensorA, TensorB, Out>();
  static_assert(!floats || agree, "columns of a must equal columns of b");
  static_assert(!floats || !agree || fits,
                "out must have the rows of a and a column for each row of b");
  return floats && agree && fits;
}

// Of matrices that are repeated for each other; `agree`: the inner extents of both do.
template <class TensorA, class TensorB, class Out, class Result, bool agree>
consteval bool check_products() noexcept {
  constexpr bool floats = holds_floats<TensorA> && holds_floats<TensorB> && is_writable<Out>;
  static_assert(floats, "a, b and out must hold floats, and out must not be const");
  static_assert(agree, "columns of a must equal the rows of b, or its columns if it is transposed");
  static_assert(!agree || same_shape<Out, Result>,
                "out must have the leading extents, the rows of a and the columns of b");
  return floats && agree && same_shape<Out, Result>;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
