// SPDX-License-Identifier: MIT
//
// The copy of a view whose axes lie in any order, repeat or overlap: what permute, expand, flip,
// unfold, cat and slices of PyTorch are.
#pragma once

#include "tinyattn/detail/axes.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Copies `from`, a tensor, a view or a number, to `out`, a tensor or a view. Axes of extent 1, and
// those that `from` lacks in front, are repeated, as PyTorch does. `out` may not overlap `from`.
template <detail::strided_term From, detail::strided Out>
constexpr void copy(const From& from, Out&& out) noexcept {
  if constexpr (detail::check_strided<Out, From>()) {
    constexpr auto walk = detail::walk_through<Out, From>();
    const auto* const of = detail::first_of(from);
    auto* const to = out.data();
    kernel::for_each_row<walk>([&](const auto& at) TINYATTN_INLINE_LAMBDA {
      constexpr auto row = walk.innermost();
      for (std::size_t i = 0; i < row.extent; ++i)
        to[at[0] + kernel::offset(i, row.strides[0])] =
            of[at[1] + kernel::offset(i, row.strides[1])];
    });
  }
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
