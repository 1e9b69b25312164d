// SPDX-License-Identifier: MIT
//
// The cache of an attention layer: keys and values of the tokens so far.
#pragma once

#include "tinyattn/attention_config.hpp"
#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/attention_workspace.hpp"
#include "tinyattn/kernel/cache.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Has room for context_length tokens, and holds num_tokens.
template <AttentionConfig config>
struct KeyValueCache {
  static_assert(
      config.causal,
      "a layer that is not causal has no cache: its first tokens attend to the later ones");

  static constexpr std::size_t kv_width = kv_heads<config> * head_dim<config>;
  static constexpr std::size_t floats(std::size_t rows) noexcept {
    return kernel::cached_scratch(rows, config.d_out, config.context_length);
  }
  static constexpr std::size_t words(std::size_t rows) noexcept {
    return floats(rows) + IntegerWorkspace<integer_width<config>, 1>::words * rows;
  }
  static constexpr std::size_t rows_at_once =
      cached_rows(kernel::maximum(config.d_in, config.d_out), words);

  static_assert(fits_in_memory(kv_width, config.context_length),
                "a cache has more bytes than this target can address");

  // All the scratch of a call with a cache. The call processes rows_at_once tokens at a time, from
  // one to four: the maximum whose scratch is no larger than 8 * max(d_in, d_out) floats. One token
  // may need more than that, since its row of scores is as long as the context. Nothing is kept
  // between calls.
  struct Workspace {
    float scratch[floats(rows_at_once)];
    [[no_unique_address]] IntegerWorkspace<integer_width<config>, rows_at_once> integers;
  };

  using AttentionWorkspace = Workspace;  // a block's Cache declares another Workspace

  // Returns the number of tokens in the cache.
  constexpr std::size_t size() const noexcept { return num_tokens; }
  constexpr void clear() noexcept { num_tokens = 0; }

  // Whether there is room for `count` more tokens.
  constexpr bool has_room(std::size_t count) const noexcept {
    return count <= config.context_length - num_tokens;
  }

  TINYATTN_ALWAYS_INLINE constexpr kernel::Cached parts() noexcept {
    return kernel::cached(keys_and_values, kv_width, config.context_length);
  }

  std::size_t num_tokens = 0;
  float keys_and_values[kernel::cache_floats(kv_width, config.context_length)] = {};
};

template <class KeyValues, AttentionConfig config>
concept cache_of = changeable<KeyValues, KeyValueCache<config>>;

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
