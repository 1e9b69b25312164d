// SPDX-License-Identifier: MIT
//
// Which keys a query sees. A key that is not seen is skipped, never multiplied by zero: a NaN
// behind a mask cannot leak.
#pragma once

#include "tinyattn/kernel/size.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Query i sees keys 0 .. i + diagonal of `keys`, as tril(m, diagonal) keeps columns, less those
// that flags or addends hide; at most one of the two is given.
struct Mask {
  std::size_t keys;
  std::ptrdiff_t diagonal;
  const bool* flags = nullptr;     // flags[i * stride + j] == shown: query i sees key j
  const float* addends = nullptr;  // each is added to its scaled score; -infinity hides the key
  std::size_t stride = 0;          // 0: one row for all queries
  bool shown = true;

  // Query i sees no key from here on.
  TINYATTN_ALWAYS_INLINE constexpr std::size_t end(std::size_t i) const noexcept {
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(i) + diagonal;
    return last < 0 ? 0 : minimum(static_cast<std::size_t>(last) + 1, keys);
  }

  // Every query from i on sees all keys below this.
  TINYATTN_ALWAYS_INLINE constexpr std::size_t common(std::size_t i) const noexcept {
    return has_holes() ? 0 : end(i);
  }

  // Whether a key below end(i) may be hidden.
  TINYATTN_ALWAYS_INLINE constexpr bool has_holes() const noexcept {
    return !is_null(flags) || !is_null(addends);
  }
  TINYATTN_ALWAYS_INLINE constexpr bool hides(std::size_t i, std::size_t j) const noexcept {
    if (!is_null(flags)) return flags[i * stride + j] != shown;
    return !is_null(addends) && addends[i * stride + j] == -infinity;
  }

  // The first key from j on that query i does not see, or `end`.
  TINYATTN_ALWAYS_INLINE constexpr std::size_t next_masked(std::size_t i, std::size_t j,
                                                           std::size_t end) const noexcept {
    if (!has_holes()) return end;
    while (j != end && !hides(i, j)) ++j;
    return j;
  }
};

TINYATTN_ALWAYS_INLINE constexpr Mask no_mask(std::size_t keys) noexcept {
  return {keys, static_cast<std::ptrdiff_t>(keys)};
}

// The same, with elements of a mask, one for each key.
TINYATTN_ALWAYS_INLINE constexpr Mask with_flags(Mask mask, const bool* flags, bool shown,
                                                 std::size_t stride) noexcept {
  mask.flags = flags;
  mask.shown = shown;
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
