// SPDX-License-Identifier: MIT
//
// Which keys a query attends to. A masked key is skipped, never multiplied by zero: a NaN
// that is masked cannot leak.
#pragma once

#include "tinyattn/kernel/math.hpp"
#include "tinyattn/kernel/size.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Query i attends to keys 0 .. i + diagonal of `keys`, as tril(m, diagonal) keeps columns, less
// those that flags or addends mask; at most one of the two is given.
struct Mask {
  std::size_t keys;
  std::ptrdiff_t diagonal;
  const bool* flags = nullptr;     // flags[i * stride + j] == unmasked: query i attends to key j
  const float* addends = nullptr;  // each is added to its scaled score; -infinity masks the key
  std::size_t stride = 0;          // 0: one row for all queries
  bool unmasked = true;

  // All keys from here on are masked for query i.
  TINYATTN_ALWAYS_INLINE constexpr std::size_t end(std::size_t i) const noexcept {
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(i) + diagonal;
    return last < 0 ? 0 : minimum(static_cast<std::size_t>(last) + 1, keys);
  }

  // For every query from i on all keys below this are unmasked.
  TINYATTN_ALWAYS_INLINE constexpr std::size_t common(std::size_t i) const noexcept {
    return has_holes() ? 0 : end(i);
  }

  // Whether a key below end(i) may be masked.
  TINYATTN_ALWAYS_INLINE constexpr bool has_holes() const noexcept {
    return !is_null(flags) || !is_null(addends);
  }
  TINYATTN_ALWAYS_INLINE constexpr bool masks(std::size_t i, std::size_t j) const noexcept {
    if (!is_null(flags)) return flags[i * stride + j] != unmasked;
    return !is_null(addends) && addends[i * stride + j] == -infinity;
  }

  // The first key from j on that is masked for query i, or `end`.
  TINYATTN_ALWAYS_INLINE constexpr std::size_t next_masked(std::size_t i, std::size_t j,
                                                           std::size_t end) const noexcept {
    if (!has_holes()) return end;
    while (j != end && !masks(i, j)) ++j;
    return j;
  }
};

TINYATTN_ALWAYS_INLINE constexpr Mask no_mask(std::size_t keys) noexcept {
  return {keys, static_cast<std::ptrdiff_t>(keys)};
}

// The same, with elements of a mask, one for each key.
TINYATTN_ALWAYS_INLINE constexpr Mask with_flags(Mask mask, const bool* flags, bool unmasked,
                                                 std::size_t stride) noexcept {
  mask.flags = flags;
  mask.unmasked = unmasked;
  mask.stride = stride;
  return mask;
}
TINYATTN_ALWAYS_INLINE constexpr Mask with_addends(Mask mask, const float* addends,
                                                   std::size_t stride) noexcept {
  mask.addends = addends;
  mask.stride = stride;
  return mask;
}

// The same keys, as far as a causal mask shows them too.
TINYATTN_ALWAYS_INLINE constexpr Mask and_causal(Mask mask) noexcept {
  if (mask.diagonal > 0) mask.diagonal = 0;
  return mask;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
