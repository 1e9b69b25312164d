// SPDX-License-Identifier: MIT
//
// Which keys a query attends to. A masked key is skipped, never multiplied by zero: a NaN
// that is masked cannot leak.
#pragma once

#include "tinyattn/kernel/size.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Query i attends to keys 0 to i + diagonal, which torch.tril(m, diagonal) keeps in row i, except
// for those that flags or addends mask. At most one of `flags` and `addends` is given.
struct Mask {
  std::size_t keys;  // how many there are; the diagonal may reach beyond the last
  std::ptrdiff_t diagonal;
  const bool* flags = nullptr;     // flags[i * stride + j] == unmasked: query i attends to key j
  const float* addends = nullptr;  // each is added to its scaled score; -infinity masks the key
  std::size_t stride = 0;          // 0 if all queries share one row
  bool unmasked = true;

  // Returns the first key that is unmasked for query i, unless flags or addends mask it.
  TINYATTN_KERNEL std::size_t begin(std::size_t) const noexcept { return 0; }

  // Returns the key from which on all keys are masked for query i.
  TINYATTN_KERNEL std::size_t end(std::size_t i) const noexcept {
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(i) + diagonal;
    return last < 0 ? 0 : minimum(static_cast<std::size_t>(last) + 1, keys);
  }

  // Returns the key before which all keys are unmasked, for query i and for all queries after it.
  TINYATTN_KERNEL std::size_t common(std::size_t i) const noexcept {
    return has_holes() ? 0 : end(i);
  }

  // Whether keys below end(i) may be masked.
  TINYATTN_KERNEL bool has_holes() const noexcept { return !is_null(flags) || !is_null(addends); }
  TINYATTN_KERNEL bool masks(std::size_t i, std::size_t j) const noexcept {
    if (!is_null(flags)) return flags[i * stride + j] != unmasked;
    return !is_null(addends) && addend(i, j) == -infinity;
  }
  TINYATTN_KERNEL float addend(std::size_t i, std::size_t j) const noexcept {
    return addends[i * stride + j];
  }
};

// Returns the first key from j on that is masked for query i, or `end`.
TINYATTN_KERNEL std::size_t next_masked(const auto& mask, std::size_t i, std::size_t j,
                                        std::size_t end) noexcept {
  if (!mask.has_holes()) return end;
  while (j != end && !mask.masks(i, j)) ++j;
  return j;
}

// A mask of a window: query i attends to no key before i + lower either, which torch.triu(m, lower)
// keeps in row i.
struct Band : Mask {
  std::ptrdiff_t lower;

  TINYATTN_KERNEL std::size_t begin(std::size_t i) const noexcept {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(i) + lower;
    return first < 0 ? 0 : minimum(static_cast<std::size_t>(first), end(i));
  }

  // Returns the band over the keys from `first` on.
  TINYATTN_KERNEL Band from(std::size_t first) const noexcept {
    const auto moved = static_cast<std::ptrdiff_t>(first);
    Band band = *this;
    band.keys -= first;
    band.diagonal -= moved;
    band.lower -= moved;
    if (!is_null(flags)) band.flags += first;
    if (!is_null(addends)) band.addends += first;
    return band;
  }
};

// A mask of the keys that follow `first` others, to which all queries attend: these have neither
// flags nor addends. `keys` and `diagonal` count them, too.
struct MaskAfter : Mask {
  std::size_t first;

  TINYATTN_KERNEL std::size_t end(std::size_t i) const noexcept {
    return maximum(first, Mask::end(i));
  }
  TINYATTN_KERNEL std::size_t common(std::size_t i) const noexcept {
    return has_holes() ? first : end(i);
  }
  TINYATTN_KERNEL bool masks(std::size_t i, std::size_t j) const noexcept {
    return j >= first && Mask::masks(i, j - first);
  }
  TINYATTN_KERNEL float addend(std::size_t i, std::size_t j) const noexcept {
    return j < first ? 0.0f : Mask::addend(i, j - first);
  }
};

// A mask of each head, or of each head and batch element: there are `count`, of which each has its
// flags or addends of_a_head after those of the one before.
template <class OfOne = Mask>
struct MaskOfHeads : OfOne {
  std::size_t of_a_head, count;

  TINYATTN_KERNEL bool has_holes() const noexcept { return true; }
};

// Returns the mask of one head; `head` counts those of earlier batch elements.
TINYATTN_KERNEL const auto& mask_of_head(const auto& mask, std::size_t) noexcept { return mask; }
template <class OfOne>
TINYATTN_KERNEL OfOne mask_of_head(const MaskOfHeads<OfOne>& mask, std::size_t head) noexcept {
  OfOne moved = mask;
  const std::size_t begin = head % mask.count * mask.of_a_head;
  if (!is_null(moved.flags)) moved.flags += begin;
  if (!is_null(moved.addends)) moved.addends += begin;
  return moved;
}

TINYATTN_KERNEL Mask no_mask(std::size_t keys) noexcept {
  return {keys, static_cast<std::ptrdiff_t>(keys)};
}

// Returns `mask` with flags or addends, one for each key of a query.
TINYATTN_KERNEL Mask with_flags(Mask mask, const bool* flags, bool unmasked,
                                std::size_t stride) noexcept {
  mask.flags = flags;
  mask.unmasked = unmasked;
  mask.stride = stride;
  return mask;
}
TINYATTN_KERNEL Mask with_addends(Mask mask, const float* addends, std::size_t stride) noexcept {
  mask.addends = addends;
  mask.stride = stride;
  return mask;
}

// Returns the mask of the keys that both `mask` and a causal mask leave unmasked.
TINYATTN_KERNEL Mask and_causal(Mask mask) noexcept {
  if (mask.diagonal > 0) mask.diagonal = 0;
  return mask;
}

// Returns the same for a causal mask of a window: query i attends to `window` keys up to key i.
TINYATTN_KERNEL Band and_window(const Mask& mask, std::size_t window) noexcept {
  return {and_causal(mask), 1 - static_cast<std::ptrdiff_t>(window)};
}

// Returns `mask` for keys after `first` others.
TINYATTN_KERNEL MaskAfter after_keys(Mask mask, std::size_t first) noexcept {
  mask.keys += first;
  mask.diagonal += static_cast<std::ptrdiff_t>(first);
  return {mask, first};
}

// Returns `plain`, a mask without flags and addends, as a mask of the same kind as the first.
TINYATTN_KERNEL const Mask& without_holes(const Mask&, const Mask& plain) noexcept { return plain; }
TINYATTN_KERNEL Band without_holes(const Band& band, const Mask& plain) noexcept {
  return {plain, band.lower};
}
TINYATTN_KERNEL MaskAfter without_holes(const MaskAfter& mask, const Mask& plain) noexcept {
  return {plain, mask.first};
}
template <class OfOne>
TINYATTN_KERNEL auto without_holes(const MaskOfHeads<OfOne>& mask, const Mask& plain) noexcept {
  const OfOne& of_one = mask;
  return MaskOfHeads<OfOne>{without_holes(of_one, plain), mask.of_a_head, mask.count};
}
}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
