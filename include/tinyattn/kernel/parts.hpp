// SPDX-License-Identifier: MIT
//
// An extent in parts: rows in blocks and tiles, columns in tiles of vectors.
#pragma once

#include "tinyattn/kernel/operand.hpp"

#include <bit>
#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// Calls step(Extent<count>{}) for a number from 1 to Most, or for an Extent.
template <std::size_t Most>
TINYATTN_ALWAYS_INLINE constexpr void with_extent(std::size_t count, const auto& step) noexcept {
  if constexpr (Most > 0) {
    if (count == Most)
      step(Extent<Most>{});
    else
      with_extent<Most - 1>(count, step);
  }
}

template <std::size_t Most, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr void with_extent(Extent<Count> count, const auto& step) noexcept {
  step(count);
}

// Calls step(first, size) for one part after the other, none larger than Most. Their sizes are Extents. Of an extent that
// the compiler knows they are as few as can be, and even: no two differ by more than one.
template <std::size_t Most, std::size_t Count>
TINYATTN_ALWAYS_INLINE constexpr void for_each_part(Extent<Count>, const auto& step) noexcept {
  constexpr std::size_t parts = (Count + Most - 1) / Most;
  constexpr std::size_t size = Count / parts;
  constexpr std::size_t longer = Count % parts;
  std::size_t first = 0;
  if constexpr (longer > 0)
    for (; first < longer * (size + 1); first += size + 1) step(first, Extent<size + 1>{});
  for (; first < Count; first += size) step(first, Extent<size>{});
}
template <std::size_t Most>
TINYATTN_ALWAYS_INLINE constexpr void for_each_part(std::size_t count, const auto& step) noexcept {
  std::size_t first = 0;
  for (; count - first >= Most; first += Most) step(first, Extent<Most>{});
  if constexpr (Most > 1)
    for_each_part<std::bit_floor(Most - 1)>(count - first,
                                            [&](std::size_t next, auto size) TINYATTN_INLINE_LAMBDA { step(first + next, size); });
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
