// SPDX-License-Identifier: MIT
//
// Walks through the elements of several operands that have one shape, each with strides of its own.
#pragma once

#include "tinyattn/port/found.hpp"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// An axis of a walk: how many elements it has, and how far apart they are in each operand.
template <std::size_t Operands>
struct WalkedAxis {
  std::size_t extent;
  std::ptrdiff_t strides[Operands];

  // Whether this axis and the next, `inner`, are one in the memory of each operand.
  constexpr bool joins(const WalkedAxis& inner) const noexcept {
    for (std::size_t o = 0; o < Operands; ++o)
      if (strides[o] != static_cast<std::ptrdiff_t>(inner.extent) * inner.strides[o]) return false;
    return true;
  }
};

// The axes of a walk, the innermost last: at least one, and none that could be joined.
template <std::size_t Operands, std::size_t Most>
struct Walk {
  static constexpr std::size_t operands = Operands, most_axes = Most, most_elements = SIZE_MAX;
  std::size_t count = 0;
  WalkedAxis<Operands> axes[Most]{};

  // Adds an axis inside those before it. One of a single element is left out, unless it is alone.
  constexpr void add(const WalkedAxis<Operands>& axis) noexcept {
    if (count != 0 && axis.extent == 1) return;
    if (count != 0 && (axes[count - 1].extent == 1 || axes[count - 1].joins(axis))) {
      const std::size_t outer = axes[--count].extent;
      axes[count] = axis;
      axes[count].extent *= outer;
    } else {
      axes[count] = axis;
    }
    ++count;
  }

  constexpr const WalkedAxis<Operands>& innermost() const noexcept { return axes[count - 1]; }
  // Whether vectors lie along it: operands follow one another, or repeat but for the first.
  constexpr bool has_vectors() const noexcept {
    for (const std::ptrdiff_t stride : innermost().strides)
      if (stride != 0 && stride != 1) return false;
    return innermost().strides[0] == 1 && innermost().extent != 1;
  }
  constexpr std::size_t elements() const noexcept {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis < count; ++axis) product *= axes[axis].extent;
    return product;
  }
};

// A walk that is a constant: the same members, of the type.
template <Walk walk>
struct ConstantWalk {
  static constexpr std::size_t operands = walk.operands, count = walk.count, most_axes = count;
  static constexpr std::size_t most_elements = walk.elements();
  static constexpr const auto& axes = walk.axes;
  static constexpr bool vectors = walk.has_vectors();
  static constexpr const auto& innermost() noexcept { return walk.innermost(); }
  static constexpr bool has_vectors() noexcept { return vectors; }
  static constexpr std::size_t elements() noexcept { return most_elements; }
};

// Where element i of an axis is, counted from its first.
TINYATTN_ALWAYS_INLINE constexpr std::ptrdiff_t offset(std::size_t i,
                                                       std::ptrdiff_t stride) noexcept {
  return static_cast<std::ptrdiff_t>(i) * stride;
}

// Calls step(at) for each row, that is, for the elements of the innermost axis; at[o] is where the
// first is in operand o, counted from the operand's first element. Rows come in rising order.
template <class Walked>
TINYATTN_ALWAYS_INLINE constexpr void for_each_row(const Walked& walk, const auto& step) noexcept {
  if constexpr (Walked::most_axes <= 2) {  // a loop, which takes less code
    for (std::size_t i = 0; i < (walk.count == 1 ? 1 : walk.axes[0].extent); ++i) {
      std::ptrdiff_t at[Walked::operands];
      TINYATTN_UNROLL
      for (std::size_t o = 0; o < Walked::operands; ++o)
        at[o] = walk.count == 1 ? 0 : offset(i, walk.axes[0].strides[o]);
      step(at);
    }
    return;
  }
  std::size_t index[Walked::most_axes] = {};
  std::ptrdiff_t at[Walked::operands] = {};
  for (;;) {
    step(at);
    std::size_t axis = walk.count - 1;
    for (;; index[axis] = 0) {
      if (axis == 0) return;
      const auto& outer = walk.axes[--axis];
      const bool is_last = ++index[axis] == outer.extent;
      const auto steps = is_last ? 1 - static_cast<std::ptrdiff_t>(outer.extent) : 1;
      for (std::size_t o = 0; o < Walked::operands; ++o) at[o] += steps * outer.strides[o];
      if (!is_last) break;
    }
  }
}
// The same of a constant walk.
template <Walk walk>
TINYATTN_ALWAYS_INLINE constexpr void for_each_row(const auto& step) noexcept {
  for_each_row(ConstantWalk<walk>{}, step);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
