// SPDX-License-Identifier: MIT
//
// Sizes that follow from the configuration of attention, and concepts that tell its overloads
// apart.
#pragma once

#include "tinyattn/kernel/window.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The number of heads, or 1 for 0, which check_attention_config diagnoses.
template <auto config>
inline constexpr std::size_t num_heads = config.num_heads == 0 ? 1 : config.num_heads;

template <auto config>
inline constexpr std::size_t kv_heads =
    config.num_kv_heads == 0 ? num_heads<config> : config.num_kv_heads;

template <auto config>
inline constexpr std::size_t head_dim =
    config.head_dim != 0 ? config.head_dim : config.d_out / num_heads<config>;

// The features of all heads together.
template <auto config>
inline constexpr std::size_t width_of_heads =
    config.head_dim != 0 ? num_heads<config>* config.head_dim : config.d_out;

// The features of key and value inputs, and whether they are others than those of queries.
template <auto config>
inline constexpr std::size_t d_key = config.d_key == 0 ? config.d_in : config.d_key;
template <auto config>
inline constexpr std::size_t d_value = config.d_value == 0 ? config.d_in : config.d_value;
template <auto config>
inline constexpr bool has_other_sources =
    d_key<config> != config.d_in || d_value<config> != config.d_in;

// The widest input that projections quantize, or 0 without int8 weights.
template <auto config>
inline constexpr bool has_int8_weights = config.weights == decltype(config.weights)::int8;
template <auto config>
inline constexpr std::size_t integer_width =
    has_int8_weights<config> ? kernel::maximum(kernel::maximum(config.d_in, width_of_heads<config>),
                                               kernel::maximum(d_key<config>, d_value<config>))
                             : 0;
template <auto config>
inline constexpr std::size_t integer_width_of_feed_forward = has_int8_weights<config>
                                                                 ? kernel::maximum(config.d_model,
                                                                                   config.d_hidden)
                                                                 : 0;

// The number of tokens whose keys and values a cache keeps.
template <auto config>
inline constexpr std::size_t cached_tokens =
    config.window == 0 ? config.context_length : config.window;

// How many heads that share keys are computed together with a window.
template <auto config>
inline constexpr std::size_t heads_at_once = TINYATTN_HEADS_AT_ONCE(num_heads<config> /
                                                                    kv_heads<config>);

template <auto config>
inline constexpr bool rotates = config.rotary != decltype(config.rotary)::none;

// The length of a row of scores with a cache: in floats, and for a cache of int8 in integers. With
// a window, a table of rotary positions is in the same memory.
template <auto config>
inline constexpr bool has_int8_cache = config.cache != decltype(config.cache)::f32;
template <auto config>
inline constexpr std::size_t scores_in_floats =
    config.window == 0 ? (has_int8_cache<config> ? 0 : config.context_length)
    : has_int8_cache<config>
        ? (rotates<config> ? head_dim<config> : 0)
        : kernel::window_scores(config.window, head_dim<config>, heads_at_once<config>);
template <auto config>
inline constexpr std::size_t words_of_scores =
    has_int8_cache<config> ? kernel::int8_cache_scratch(head_dim<config>, cached_tokens<config>)
                           : 0;
// The same without a cache, where scores of floats are in other memory, and those of integers may
// begin between eights.
template <auto config>
inline constexpr std::size_t words_of_call =
    has_int8_cache<config> ? kernel::int8_cache_scratch(head_dim<config>, config.context_length + 7)
                           : 0;

// Whether heads have norms, a width of their own, or features that do not rotate.
template <auto config>
inline constexpr bool has_own_heads =
    config.qk_norm || config.head_dim != 0 || config.rotary_dim != 0;

// Whether query heads share key heads, features rotate, or heads are their own.
template <auto config>
inline constexpr bool is_grouped =
    kv_heads<config> != config.num_heads || rotates<config> || has_own_heads<config>;

// Whether a call without a cache has tokens from which its last token is too far.
template <auto config>
inline constexpr bool has_band = config.window != 0 && config.window < config.context_length;

// Returns the mask of a call, combined with that of its layer if there is one.
template <auto config>
TINYATTN_ALWAYS_INLINE constexpr auto with_mask_of(const kernel::Mask& mask) noexcept {
  if constexpr (has_band<config>)
    return kernel::and_window(mask, config.window);
  else if constexpr (config.bias_kv != 0)
    return kernel::after_keys(config.causal ? kernel::and_causal(mask) : mask, config.bias_kv);
  else
    return config.causal ? kernel::and_causal(mask) : mask;
}
template <auto config>
TINYATTN_ALWAYS_INLINE constexpr auto with_mask_of(const kernel::MaskOfHeads<>& mask) noexcept {
  const kernel::Mask& of_one = mask;
  const auto combined = with_mask_of<config>(of_one);
  return kernel::MaskOfHeads<std::remove_const_t<decltype(combined)>>{combined, mask.of_a_head,
                                                                      mask.count};
}

// A Cache, or a class derived from it, that is not const: a call can add keys and values to it.
template <class KeyValues, class Cache>
concept changeable = std::is_base_of_v<Cache, KeyValues> && !std::is_const_v<KeyValues>;

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
