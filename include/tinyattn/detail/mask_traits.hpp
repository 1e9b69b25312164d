// SPDX-License-Identifier: MIT
//
// MaskTraits: how checks and kernels use a mask of any type.
#pragma once

#include "tinyattn/kernel/mask.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The traits of a type that is not a mask. Each mask of mask.hpp has a specialization with
// `fits<Tokens, SourceTokens>` and kernel_mask(mask, tokens, keys), which returns the mask as
// kernels take it.
template <class Mask>
struct MaskTraits {
  static constexpr bool is_mask = false;
};

// Returns a mask for `tokens` queries and `keys` source tokens as kernels take it.
TINYATTN_ALWAYS_INLINE constexpr kernel::Mask kernel_mask(const auto& mask, std::size_t tokens,
                                                          std::size_t keys) noexcept {
  return MaskTraits<std::remove_cvref_t<decltype(mask)>>::kernel_mask(mask, tokens, keys);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
