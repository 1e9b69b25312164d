// SPDX-License-Identifier: MIT
//
// The caches of a decoder, as kernels take them, and the scratch of calls. Macros of the C headers
// are their sizes, for each port of the architecture: what kernels divide as floats, and integers
// after it.
#pragma once

#include "operations.hpp"
#include "tinyattn/kernel/block.hpp"
#include "tinyattn/kernel/window.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

using namespace compiled;

// The floats of a call's scratch.
constexpr std::size_t floats_of(const tinyattn_layer& layer, std::size_t tokens,
                                std::size_t source_tokens) noexcept {
  return TINYATTN_GROUPED_LAYER_SCRATCH(layer.d_out, layer.d_out / group_of(layer), tokens,
                                        source_tokens);
}
constexpr std::size_t floats_of(const tinyattn_encoder& e, std::size_t tokens) noexcept {
  return TINYATTN_ENCODER_SCRATCH(e.d_model, e.d_model / group_of(e), e.d_hidden, tokens);
}
template <class Cache>
constexpr std::size_t floats_of(const tinyattn_decoder& d) noexcept {
  return TINYATTN_DECODER_SCRATCH(d.d_model, d.d_hidden, Cache::scores(d));
}
// As kernels divide them; each part of a maximum is the larger one here once.
static_assert(TINYATTN_GROUPED_LAYER_SCRATCH(12, 6, 5, 7) == kernel::layer_scratch(12, 6, 5, 7) &&
              TINYATTN_ENCODER_SCRATCH(12, 6, 1, 7) ==
                  7 * 12 + kernel::layer_scratch(12, 6, 7, 7) &&
              TINYATTN_ENCODER_SCRATCH(12, 6, 999, 1) ==
                  12 + kernel::hidden_scratch(1, 999, true) &&
              TINYATTN_DECODER_SCRATCH(12, 3, 9) ==
                  12 + kernel::cached_block_scratch(1, 12, 3, true, 9, 12) &&
              TINYATTN_DECODER_SCRATCH(12, 203, 9) ==
                  12 + kernel::cached_block_scratch(1, 12, 203, true, 9, 12) &&
              TINYATTN_WINDOW_SCORES(5, 3, 1) == kernel::window_scores(5, 3, 1) &&
              TINYATTN_INTEGERS(1, 17) == kernel::integer_row(17) &&
              TINYATTN_CACHE_INTEGERS(1, 9, 17) == kernel::int8_cache_scratch(9, 17));

constexpr std::size_t head_dim_of(const tinyattn_decoder& d) noexcept {
  return d.d_model / d.num_heads;
}
constexpr std::size_t kv_width(const tinyattn_decoder& d) noexcept {
  return head_dim_of(d) * d.num_kv_heads;
}

// A cache of floats: of all layers. Without a window a layer has a ring that never begins anew.
struct FloatCache {
  // The scores of a token: of a context, for one head, or of a window, for several.
  static constexpr std::size_t heads_at_once(const tinyattn_decoder& d) noexcept {
    return d.window == 0 ? 1 : TINYATTN_HEADS_AT_ONCE(group_of(d));
  }
  static constexpr std::size_t scores(const tinyattn_decoder& d) noexcept {
    return d.window == 0 ? d.context_length
                         : kernel::window_scores(d.window, head_dim_of(d), heads_at_once(d));
  }
  TINYATTN_ALWAYS_INLINE static constexpr std::size_t size(const tinyattn_decoder& d,
                                                           std::size_t num_layers) noexcept {
    return TINYATTN_DECODER_CACHE(num_layers, kv_width(d), cached_tokens(d));
  }

  TINYATTN_ALWAYS_INLINE static kernel::Ring<kernel::Cached> layer(const tinyattn_decoder& d,
                                                                   void* cache,
                                                                   std::size_t index) noexcept {
    const std::size_t tokens = cached_tokens(d);
    return {kernel::cached(static_cast<float*>(cache) + size(d, index), kv_width(d), tokens),
            tokens, heads_at_once(d)};
  }
};
// A cache has as many values as keys after the keys, or a vector if that is more.
static_assert(TINYATTN_DECODER_CACHE(1, 1, 1) >= kernel::cache_floats(1, 1) &&
              TINYATTN_DECODER_CACHE(1, 1, TINYATTN_LANES) >=
                  kernel::cache_floats(1, TINYATTN_LANES));

// A cache of int8: of all layers. A query and its scores are integers.
struct Int8Cache {
  // With a window, a table of rotary positions.
  static constexpr std::size_t scores(const tinyattn_decoder& d) noexcept {
    return d.window == 0 ? 0 : head_dim_of(d);
  }
  TINYATTN_ALWAYS_INLINE static constexpr std::size_t size(const tinyattn_decoder& d,
                                                           std::size_t num_layers) noexcept {
    return TINYATTN_INT8_CACHE(num_layers, d.num_kv_heads, head_dim_of(d), cached_tokens(d));
  }

  TINYATTN_ALWAYS_INLINE static kernel::Ring<kernel::Int8Cached> layer(const tinyattn_decoder& d,
                                                                       void* cache,
                                                                       std::size_t index) noexcept {
    std::uint8_t* const first = static_cast<std::uint8_t*>(cache) + 4 * size(d, index);
    const std::size_t tokens = cached_tokens(d);
    return {parts(first, d.num_kv_heads, head_dim_of(d), tokens), tokens, 1};
  }

  // Divides the cache of a layer.
  TINYATTN_ALWAYS_INLINE static constexpr kernel::Int8Cached parts(
      std::uint8_t* bytes, std::size_t heads, std::size_t head_dim,
      std::size_t context_length) noexcept {
    const std::size_t rows = heads * context_length;
    std::uint8_t* const values = bytes + rows * kernel::padded_to_eight(head_dim);
    std::uint8_t* const scales =
        values + heads * head_dim * kernel::padded_to_eight(context_length);
    return {bytes, values, scales, scales + rows, context_length};
  }
};

// Whether TINYATTN_INT8_CACHE is enough: for each remainder that rounding up may leave.
consteval bool suffices_for_int8_cache() noexcept {
  std::uint8_t bytes[2 * 8 * (8 + 8 + 2)] = {};
  for (std::size_t dim = 1; dim <= 8; ++dim)
    for (std::size_t context_length = 1; context_length <= 8; ++context_length) {
      const auto end = Int8Cache::parts(bytes, 2, dim, context_length).value_scales;
      if (end + 2 * context_length > bytes + 4 * TINYATTN_INT8_CACHE(1, 2, dim, context_length))
        return false;
    }
  return true;
}
static_assert(suffices_for_int8_cache());

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
