// SPDX-License-Identifier: MIT
//
// The axes of tensors, views and numbers, and how they are repeated for each other, as PyTorch
// broadcasts them.
#pragma once

#include "tinyattn/kernel/walk.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace tinyattn { namespace detail {

// The extents and strides of what may be an operand, from the outermost axis on.
template <class Type>
struct AxesOf;

template <class Element, std::size_t... Extent>
struct AxesOf<Tensor<Element, Extent...>> {
  static constexpr std::size_t rank = sizeof...(Extent);
  static constexpr std::size_t extents[rank] = {Extent...};
  static constexpr std::ptrdiff_t stride(std::size_t axis) noexcept {
    std::ptrdiff_t product = 1;
    while (++axis < rank) product *= static_cast<std::ptrdiff_t>(extents[axis]);
    return product;
  }
};

template <class Element, std::size_t Rows, std::size_t Cols, std::size_t Stride>
struct AxesOf<MatrixView<Element, Rows, Cols, Stride>> {
  static constexpr std::size_t rank = 2;
  static constexpr std::size_t extents[rank] = {Rows, Cols};
  static constexpr std::ptrdiff_t stride(std::size_t axis) noexcept {
    return axis == 0 ? static_cast<std::ptrdiff_t>(Stride) : 1;
  }
};

template <class Element, std::size_t... Extent, std::ptrdiff_t... Stride>
struct AxesOf<StridedView<Element, Extents<Extent...>, Strides<Stride...>>> {
  static constexpr std::size_t rank = sizeof...(Extent);
  static constexpr std::size_t extents[rank] = {Extent...};
  static constexpr std::ptrdiff_t stride(std::size_t axis) noexcept {
    constexpr std::ptrdiff_t strides[] = {Stride...};
    return strides[axis];
  }
};

template <class Number>
requires std::is_arithmetic_v<Number>
struct AxesOf<Number> {
  static constexpr std::size_t rank = 0;
};

template <class Type>
using Axes = AxesOf<std::remove_cvref_t<Type>>;

// A tensor or a view; and one of these, or a number.
template <class Type>
concept strided = requires {
  Axes<Type>::extents;
};
template <class Type>
concept strided_term = requires {
  Axes<Type>::rank;
};

// The extent of a term at an axis of a result of so many axes: 1 in front of those that it has.
template <class Term>
constexpr std::size_t extent_at(std::size_t axis, std::size_t rank) noexcept {
  if constexpr (Axes<Term>::rank == 0)
    return 1;
  else
    return axis + Axes<Term>::rank < rank ? 1 : Axes<Term>::extents[axis + Axes<Term>::rank - rank];
}

// The stride there: 0 where the term is repeated.
template <class Term>
constexpr std::ptrdiff_t stride_at(std::size_t axis, std::size_t rank) noexcept {
  if constexpr (Axes<Term>::rank == 0)
    return 0;
  else
    return extent_at<Term>(axis, rank) == 1 ? 0
                                            : Axes<Term>::stride(axis + Axes<Term>::rank - rank);
}

// The largest rank of terms, and at least 1.
template <class... Terms>
consteval std::size_t largest_rank() noexcept {
  std::size_t most = 1;
  ((most = Axes<Terms>::rank > most ? Axes<Terms>::rank : most), ...);
  return most;
}

// The extent of an axis of a result of so many axes, if the terms are repeated for each other.
template <class... Terms>
constexpr std::size_t largest_extent(std::size_t axis, std::size_t rank) noexcept {
  std::size_t most = 1;
  ((most = extent_at<Terms>(axis, rank) > most ? extent_at<Terms>(axis, rank) : most), ...);
  return most;
}

// Whether each term has this extent there, or 1.
template <class... Terms>
constexpr bool match_at(std::size_t axis, std::size_t rank) noexcept {
  const std::size_t most = largest_extent<Terms...>(axis, rank);
  return ((extent_at<Terms>(axis, rank) == 1 || extent_at<Terms>(axis, rank) == most) && ...);
}

// The tensor of floats that terms give which are repeated for each other.
template <class... Terms, std::size_t... Axis>
auto broadcast(std::index_sequence<Axis...>)
    -> Tensor<float, largest_extent<Terms...>(Axis, sizeof...(Axis))...>;
template <class... Terms>
using Broadcast =
    decltype(broadcast<Terms...>(std::make_index_sequence<largest_rank<Terms...>()>{}));

// Whether terms can be repeated to the shape of Out.
template <class Out, class... Terms>
consteval bool fits_into() noexcept {
  constexpr std::size_t rank = Axes<Out>::rank;
  bool fits = largest_rank<Terms...>() <= rank;
  for (std::size_t axis = 0; axis < rank; ++axis)
    fits = fits && match_at<Out, Terms...>(axis, rank) &&
           largest_extent<Terms...>(axis, rank) <= Axes<Out>::extents[axis];
  return fits;
}

// Whether an operand holds floats, or is a number.
template <class Term>
consteval bool is_of_floats() noexcept {
  if constexpr (strided<Term>)
    return std::is_same_v<typename std::remove_cvref_t<Term>::value_type, float>;
  else
    return true;
}

// A static_assert diagnoses operands of anything else.
template <class... Terms>
consteval bool check_floats() noexcept {
  constexpr bool floats = (is_of_floats<Terms>() && ...);
  static_assert(floats, "operands and out must hold floats");
  return floats;
}

// A static_assert diagnoses terms that cannot be repeated to the shape of Out; the caller then
// computes nothing.
template <class Out, class... Terms>
consteval bool check_strided() noexcept {
  constexpr bool writable =
      !std::is_const_v<std::remove_pointer_t<decltype(std::declval<Out&>().data())>>;
  constexpr bool fits = fits_into<Out, Terms...>();
  static_assert(writable, "out must not be const");
  static_assert(fits, "each operand must have the extents of out, or 1, from the last axis on");
  return writable && fits;
}

// The walk through Out and the terms that are repeated to its shape.
template <class Out, class... Terms>
consteval auto walk_through() noexcept {
  constexpr std::size_t rank = Axes<Out>::rank, operands = 1 + sizeof...(Terms);
  kernel::Walk<operands, rank> walk;
  for (std::size_t axis = 0; axis < rank; ++axis)
    walk.add(
        {Axes<Out>::extents[axis], {stride_at<Out>(axis, rank), stride_at<Terms>(axis, rank)...}});
  return walk;
}

// Where the elements of a term begin. A number is its own only element.
template <class Term>
constexpr auto first_of(Term& term) noexcept {
  if constexpr (strided<Term>)
    return term.data();
  else
    return &term;
}

}}  // namespace tinyattn::detail
