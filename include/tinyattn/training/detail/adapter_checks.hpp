// SPDX-License-Identifier: MIT
//
// Diagnoses configurations of adapters.
#pragma once

#include "tinyattn/shape.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Which parts of a block have adapters.
template <auto lora>
inline constexpr bool adapts_attention = lora.query || lora.key || lora.value || lora.output;
template <auto lora>
inline constexpr bool adapts_feed_forward = lora.up || lora.gate || lora.down;

template <auto lora>
consteval bool check_rank() noexcept {
  static_assert(lora.rank != 0, "the rank of adapters must not be zero");
  return true;
}
template <auto config, auto lora>
consteval bool check_adapted_attention() noexcept {
  static_assert(adapts_attention<lora>,
                "adapters of attention are those of query, key, value or output: lora has none");
  static_assert(config.out_proj || !lora.output,
                "lora adapts the output projection, and attention has none");
  return true;
}
template <auto config, auto lora>
consteval bool check_adapted_feed_forward() noexcept {
  static_assert(adapts_feed_forward<lora>,
                "adapters of a feed-forward layer are those of up, gate or down: lora has none");
  static_assert(config.gated || !lora.gate, "lora adapts the gate, and the layer is not gated");
  return true;
}
template <auto lora>
consteval bool check_adapted_block() noexcept {
  static_assert(adapts_attention<lora> || adapts_feed_forward<lora>,
                "lora adapts nothing of the model");
  return true;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
