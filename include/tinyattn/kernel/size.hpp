// SPDX-License-Identifier: MIT
//
// What every kernel uses: sizes, which are plain numbers (std::size_t; code for small shapes has
// them as template arguments too), and functions of vectors.
#pragma once

#include "tinyattn/port/found.hpp"

#include "tinyattn/port/elementwise.hpp"

#include <cstddef>

// A function that is inlined into every caller. Others have one copy in flash. Tests define it as
// functions that are not inlined, which compile sooner.
#ifndef TINYATTN_KERNEL
#define TINYATTN_KERNEL TINYATTN_ALWAYS_INLINE constexpr
#endif

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

using namespace port::elementwise;

constexpr std::size_t minimum(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }
constexpr std::size_t maximum(std::size_t a, std::size_t b) noexcept { return a < b ? b : a; }

// Rounds `count` up to whole vectors.
template <class Port>
constexpr std::size_t padded(std::size_t count) noexcept {
  return (count + Port::lanes - 1) / Port::lanes * Port::lanes;
}

// Returns the size of the chunks into which `count` elements are divided: as few chunks as
// possible, of at most `most` elements and of nearly equal size.
constexpr std::size_t evenly(std::size_t count, std::size_t most) noexcept {
  const std::size_t chunks = (count + most - 1) / most;
  return (count + chunks - 1) / chunks;
}

// Returns how many rows the block that starts at row `first` has: `size`, or fewer if it is the
// last.
TINYATTN_KERNEL std::size_t rows_of_block(std::size_t first, std::size_t count,
                                          std::size_t size) noexcept {
  return count % size == 0 ? size : minimum(size, count - first);
}

// Calls step.operator()<size>(first) for the chunks into which Count elements are divided: they
// have at most Most elements each, and differ in size by at most one.
template <std::size_t Count, std::size_t Most>
TINYATTN_KERNEL void for_each_known_chunk(const auto& step) noexcept {
  constexpr std::size_t size = evenly(Count, Most), chunks = (Count + size - 1) / size;
  constexpr std::size_t smaller_chunks = chunks * size - Count;
  std::size_t first = 0;
  for (; first != Count - smaller_chunks * (size - 1); first += size)
    step.template operator()<size>(first);
  if constexpr (smaller_chunks != 0)
    for (; first != Count; first += size - 1) step.template operator()<size - 1>(first);
}

// The narrowest port that takes a row of `Count` elements in one vector, or Port itself.
template <class Port, std::size_t Count>
struct Narrowed {
  using port = Port;
};
template <class Port, std::size_t Count>
requires requires { requires Count <= Port::half::lanes; }
struct Narrowed<Port, Count> : Narrowed<typename Port::half, Count> {};
template <class Port, std::size_t Count>
using narrowed = typename Narrowed<Port, Count>::port;

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
