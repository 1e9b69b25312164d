// SPDX-License-Identifier: MIT
//
// A mask that is chosen at run time, as one of three that kernels are compiled for: none and the causal ones are one of them.
#pragma once

#include "tinyattn/kernel/visible.hpp"
#include "tinyattn/tinyattn.h"

#include <cstddef>

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library {

using Earlier = kernel::SeesEarlier<std::size_t>;

// A block or a keep mask.
struct SeesFlags {
  static constexpr bool has_holes = true;
  static constexpr bool adds = false;
  std::size_t source;
  const bool* flags;
  std::size_t stride;
  bool seen_if;

  constexpr std::size_t keys() const noexcept { return source; }
  constexpr std::size_t common(std::size_t, std::size_t) const noexcept { return 0; }
  constexpr std::size_t end(std::size_t, std::size_t) const noexcept { return source; }
  constexpr bool sees(std::size_t i, std::size_t j) const noexcept { return flags[i * stride + j] == seen_if; }

  template <class Port>
  constexpr float score(std::size_t, std::size_t, float score, float) const noexcept {
    return score;
  }
};

// What a query sees without regard to the elements of the mask.
inline Earlier earlier(tinyattn_mask_kind kind, bool causal, std::size_t tokens, std::size_t source_tokens) noexcept {
  if (kind == TINYATTN_CAUSAL || (causal && kind != TINYATTN_CAUSAL_BOTTOM_RIGHT)) return {source_tokens, 0, 0};
  if (kind != TINYATTN_CAUSAL_BOTTOM_RIGHT) return {source_tokens, source_tokens, 0};
  if (causal && tokens < source_tokens) return {source_tokens, 0, 0};
  return {source_tokens, source_tokens, tokens};
}

// Calls step(visible) for what `mask` and `causal` together let queries see.
void with_visible(const tinyattn_mask& mask, bool causal, std::size_t tokens, std::size_t source_tokens, const auto& step) noexcept {
  const Earlier by_order = earlier(mask.kind, causal, tokens, source_tokens);
  const std::size_t stride = mask.one_row ? 0 : source_tokens;
  if (mask.kind == TINYATTN_BLOCK_MASK || mask.kind == TINYATTN_KEEP_MASK)
    step(kernel::SeesBoth<Earlier, SeesFlags>{by_order, {source_tokens, mask.flags, stride, mask.kind == TINYATTN_KEEP_MASK}});
  else if (mask.kind == TINYATTN_ADDITIVE_MASK)
    step(kernel::SeesBoth<Earlier, kernel::SeesWithAddend<std::size_t>>{by_order, {source_tokens, mask.addends, stride}});
  else
    step(by_order);
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library
