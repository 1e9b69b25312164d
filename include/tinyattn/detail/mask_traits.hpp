// SPDX-License-Identifier: MIT
//
// What checks and kernels ask of a mask, of whatever type it is.
#pragma once

#include "tinyattn/kernel/mask.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Of a type that is no mask. Each mask of mask.hpp has one with `fits<Tokens, SourceTokens>`, and
// describe(mask, tokens, keys), which is the mask as kernels see it.
template <class Mask>
struct MaskTraits {
  static constexpr bool is_mask = false;
};

// A mask of `tokens` queries and `keys` source tokens, as kernels see it.
TINYATTN_ALWAYS_INLINE constexpr kernel::Mask describe(const auto& mask, std::size_t tokens,
                                                       std::size_t keys) noexcept {
  return MaskTraits<std::remove_cvref_t<decltype(mask)>>::describe(mask, tokens, keys);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
