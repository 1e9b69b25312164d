// SPDX-License-Identifier: MIT
//
// The elements that a reduction makes one of, and how it goes through them.
#pragma once

#include "tinyattn/kernel/lanes.hpp"
#include "tinyattn/kernel/row.hpp"
#include "tinyattn/kernel/walk.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Elements that lie anywhere, or those of several columns side by side, of which `at` is the
// vector: folded one after the other.
template <class PortOfColumns, class Walked, class At = RowVector<PortOfColumns, true>>
struct Columns {
  using Port = PortOfColumns;
  const Walked& walk;
  const float* first;
  At at;

  // Calls visit(x) for each element, in row-major order.
  TINYATTN_KERNEL void for_each(const auto& visit) const noexcept {
    for_each_row(walk, [&](const auto& start) TINYATTN_INLINE_LAMBDA {
      const auto& row = walk.innermost();
      for (std::size_t i = 0; i < row.extent; ++i)
        visit(Lanes<Port>(at.load(first + start[0] + offset(i, row.strides[0]), 0.0f)));
    });
  }

  // Computes result = step(result, x) for each, from `start` on.
  TINYATTN_KERNEL Lanes<Port> fold(float start, const auto& step, const auto&) const noexcept {
    Lanes<Port> result(Port::splat(start));
    for_each([&](auto x) TINYATTN_INLINE_LAMBDA { result = step(result, x); });
    return result;
  }
  TINYATTN_KERNEL std::size_t count() const noexcept { return walk.elements(); }
};

// Elements that include those of the last axis: folded in sixteen lanes, element j in lane j % 16,
// which then take lane q + 8, q + 4, q + 2, q + 1 by merge(a, b). Empty lanes are left out.
template <class Native, class Walked>
struct LastAxis : Columns<typename Native::one_lane, Walked> {
  using Port = typename Native::one_lane;
  using Columns<Port, Walked>::walk, Columns<Port, Walked>::first;
  static constexpr std::size_t most = minimum(Walked::most_elements, 16);

  TINYATTN_KERNEL Lanes<Port> fold(float start, const auto& step,
                                   const auto& merge) const noexcept {
    const std::size_t used = minimum(walk.elements(), 16);
    float lanes[most];
    for (std::size_t q = 0; q < used; ++q) lanes[q] = start;
    std::size_t j = 0;
    if constexpr (Native::lanes > 1 && most == 16)
      if (walk.count == 1 && walk.axes[0].strides[0] == 1 && used == 16)
        j = fold_vectors(lanes, step);
    const std::size_t begin = j;
    for_each_row(walk, [&](const auto& at) TINYATTN_INLINE_LAMBDA {
      const auto& row = walk.innermost();
      for (std::size_t i = begin; i < row.extent; ++i, ++j) {
        const float x = first[at[0] + offset(i, row.strides[0])];
        lanes[j % 16] = step(Lanes<Port>(lanes[j % 16]), Lanes<Port>(x)).v;
      }
    });
    for (std::size_t half = 8; half != 0; half /= 2)
      for (std::size_t q = 0; q < half && q + half < used; ++q)
        lanes[q] = merge(Lanes<Port>(lanes[q]), Lanes<Port>(lanes[q + half])).v;
    return lanes[0];
  }

 private:
  // Folds as many elements as are a multiple of sixteen, and returns their number.
  TINYATTN_KERNEL std::size_t fold_vectors(float* lanes, const auto& step) const noexcept {
    typename Native::vec sums[16 / Native::lanes];
    TINYATTN_UNROLL
    for (std::size_t q = 0; q < 16 / Native::lanes; ++q) sums[q] = Native::splat(lanes[0]);
    std::size_t j = 0;
    for (; j + 16 <= walk.elements(); j += 16) {
      TINYATTN_UNROLL
      for (std::size_t q = 0; q < 16 / Native::lanes; ++q) {
        const auto x = Native::load(first + j + q * Native::lanes);
        sums[q] = step(Lanes<Native>(sums[q]), Lanes<Native>(x)).v;
      }
    }
    TINYATTN_UNROLL
    for (std::size_t q = 0; q < 16 / Native::lanes; ++q)
      Native::store(lanes + q * Native::lanes, sums[q]);
    return j;
  }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
