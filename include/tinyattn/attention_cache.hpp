// SPDX-License-Identifier: MIT
//
// The cache of an attention layer: keys and values of the tokens so far.
#pragma once

#include "tinyattn/attention_config.hpp"
#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/attention_workspace.hpp"
#include "tinyattn/kernel/window.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The number of tokens that a cache takes. Rotary positions end where an angle, computed from the
// position, would be off by too much.
template <AttentionConfig config>
inline constexpr bool never_ends = config.window != 0 && config.rotary == Rotary::none;
template <AttentionConfig config>
inline constexpr std::size_t most_tokens = config.window == 0   ? config.context_length
                                           : never_ends<config> ? SIZE_MAX
                                                                : kernel::most_positions;

// Has room for most_tokens, and has taken num_tokens: all of them, or the last `window`, are kept.
template <AttentionConfig config>
struct KeyValueCache {
  static_assert(
      config.causal,
      "a layer that is not causal has no cache: its first tokens attend to the later ones");
  static_assert(config.bias_kv == 0, "a layer with bias_kv has no cache");
  static_assert(d_key<config> == d_value<config>, "a cache is filled from inputs of one width");
  static constexpr std::size_t kv_width = kv_heads<config> * head_dim<config>;
  static constexpr std::size_t floats(std::size_t rows) noexcept {
    return kernel::cached_scratch(rows, width_of_heads<config>, scores_in_floats<config>);
  }
  template <std::size_t Rows>
  using Integers = IntegerWorkspace<integer_width<config>, Rows, words_of_scores<config>>;
  static constexpr std::size_t words(std::size_t rows) noexcept {
    return floats(rows) + integer_words<integer_width<config>, words_of_scores<config>>(rows);
  }
  static constexpr std::size_t rows_at_once =
      cached_rows(kernel::maximum(config.d_in, width_of_heads<config>), words);

  static_assert(fits_in_memory(kv_width, cached_tokens<config>),
                "a cache has more bytes than this target can address");

  // All the scratch of a call with a cache. The call processes rows_at_once tokens at a time, from
  // one to four: the maximum whose scratch is no larger than 8 * max(d_in, d_out) floats. One token
  // may need more than that, since its row of scores is as long as the context. Nothing is kept
  // between calls.
  struct Workspace {
    float scratch[floats(rows_at_once)];
    [[no_unique_address]] Integers<rows_at_once> integers;
  };

  using AttentionWorkspace = Workspace;  // a block's Cache declares another Workspace

  // Returns the number of tokens in the cache.
  constexpr std::size_t size() const noexcept { return num_tokens; }
  constexpr void clear() noexcept { num_tokens = 0; }

  // Whether there is room for `count` more tokens.
  constexpr bool has_room(std::size_t count) const noexcept {
    return count <= most_tokens<config> - num_tokens;
  }

  // For kernels.
  constexpr void count_tokens(std::size_t count) noexcept {
    num_tokens += count;
    if constexpr (never_ends<config>)
      num_tokens = kernel::counted_in_turns(num_tokens, config.window);
  }
  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    if constexpr (config.window == 0)
      return all_parts();
    else
      return kernel::Ring<decltype(all_parts())>{all_parts(), config.window, heads_at_once<config>};
  }
  TINYATTN_ALWAYS_INLINE constexpr auto all_parts() noexcept {
    if constexpr (has_int8_cache<config>)
      return keys_and_values.parts();
    else
      return kernel::cached(keys_and_values, kv_width, cached_tokens<config>);
  }

  std::size_t num_tokens = 0;
  std::conditional_t<has_int8_cache<config>, Int8KeysAndValues<config, cached_tokens<config>>,
                     float[kernel::cache_floats(kv_width, cached_tokens<config>)]>
      keys_and_values = {};
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
