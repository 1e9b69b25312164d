// SPDX-License-Identifier: MIT
//
// Checks of the operands of a product. A static_assert diagnoses what is wrong, and the caller then
// computes nothing, so that no page of errors follows.
#pragma once

#include "tinyattn/detail/axes.hpp"
#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <utility>

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

// The product of a and b, which Right says how to read: as it is, or transposed.
template <class Right, class TensorA, class TensorB>
struct ProductOf {
  using LayoutA = LayoutOf<TensorA>;
  using LayoutB = LayoutOf<TensorB>;
  static constexpr bool transposed = kernel::is_transposed<Right>;
  static constexpr std::size_t inner = transposed ? LayoutB::cols : LayoutB::rows,
                               cols = transposed ? LayoutB::rows : LayoutB::cols,
                               rank = largest_rank<TensorA, TensorB>();

  // Whether b is one matrix, or as many as a has; and whether leading extents differ, but can be
  // repeated for each other.
  static constexpr bool same = LayoutB::batch == 1 || same_batch<TensorA, TensorB>;
  static constexpr bool repeats = [] {
    bool match =
        Axes<TensorA>::rank > 1 && Axes<TensorB>::rank > 2 && !same_batch<TensorA, TensorB>;
    for (std::size_t axis = 0; axis + 2 < rank; ++axis)
      match = match && match_at<TensorA, TensorB>(axis, rank);
    return match;
  }();
  template <std::size_t... Axis>
  static auto repeated(std::index_sequence<Axis...>)
      -> Tensor<float, largest_extent<TensorA, TensorB>(Axis, rank)..., LayoutA::rows, cols>;
  static auto result() {
    if constexpr (repeats)
      return decltype(repeated(std::make_index_sequence<rank - 2>{})){};
    else
      return WithCols<TensorA, cols>{};
  }
};

// A static_assert diagnoses a, b and out; those of a backward pass are not repeated.
template <class Of, class TensorA, class TensorB, class Out, bool may_repeat = true>
consteval bool check_product() noexcept {
  constexpr bool floats = holds_floats<TensorA> && holds_floats<TensorB>,
                 batches = Of::same || (may_repeat && Of::repeats), writable = is_writable<Out>,
                 agree = Of::LayoutA::cols == Of::inner,
                 fits = same_shape<Out, decltype(Of::result())>;
  static_assert(floats, "a and b must hold floats");
  static_assert(batches, "b must be one matrix, or as many as a has");
  static_assert(!floats || writable, "out must hold floats, and not be const");
  static_assert(!floats || agree || Of::transposed, "columns of a must equal rows of b");
  static_assert(!floats || agree || !Of::transposed, "columns of a must equal columns of b");
  static_assert(!floats || !writable || !agree || fits,
                "out must have the rows of a and the columns of b, or a column for each row of a b "
                "that is transposed, and the leading extents of both");
  return floats && batches && writable && agree && fits;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
