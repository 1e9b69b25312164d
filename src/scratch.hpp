// SPDX-License-Identifier: MIT
//
// How the scratch and the caches of calls are divided: where the parts begin and, after the last
// one, the size that callers ask for. It is enough for each port of the architecture.
#pragma once

#include "encoder_operations.hpp"
#include "models_operations.hpp"
#include "projections.hpp"
#include "tinyattn/kernel/block.hpp"
#include "tinyattn/kernel/window.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

using namespace compiled;

// The words of integers of a call, after its floats, if weights are int8: for at most
// TINYATTN_QUERY_ROWS(rows) rows of inputs at a time.
template <class Weights>
constexpr std::size_t integer_words(std::size_t rows, std::size_t inputs) noexcept {
  return Weights::is_int8 ? TINYATTN_QUERY_ROWS(rows) * kernel::integer_row(inputs) : 0;
}

// Where the integers of a layer's scratch begin after what kernels divide, and its size.
struct LayerLayout {
  std::size_t integers, size;
};
template <class Weights>
constexpr LayerLayout layer_layout(std::size_t d_in, std::size_t d_out, std::size_t kv_width,
                                   std::size_t tokens, std::size_t source_tokens) noexcept {
  const std::size_t integers = kernel::layer_scratch(d_out, kv_width, tokens, source_tokens);
  return {integers, integers + integer_words<Weights>(tokens, kernel::maximum(d_in, d_out))};
}

// The same of an encoder, after the output of a part of a block.
struct EncoderLayout {
  std::size_t shared;  // by attention and the feed-forward part
  std::size_t integers, size;
};
template <class Weights>
constexpr EncoderLayout encoder_layout(const tinyattn_encoder& encoder,
                                       std::size_t tokens) noexcept {
  const std::size_t d_model = encoder.d_model, d_hidden = encoder.d_hidden;
  const std::size_t kv_width = d_model / group_of(encoder), shared = tokens * d_model;
  const std::size_t integers =
      shared + kernel::maximum(kernel::layer_scratch(d_model, kv_width, tokens, tokens),
                               kernel::hidden_scratch(TINYATTN_QUERY_ROWS(tokens), d_hidden, true));
  return {shared, integers,
          integers + integer_words<Weights>(tokens, kernel::maximum(d_model, d_hidden))};
}

constexpr std::size_t head_dim_of(const tinyattn_decoder& d) noexcept {
  return d.d_model / d.num_heads;
}

// A cache of floats: of all layers. Without a window a layer has a ring that never begins anew.
struct FloatCache {
  // The scores of a token: of a context, for one head, or of a window, for several.
  static constexpr std::size_t heads_at_once(const tinyattn_decoder& d) noexcept {
    return d.window == 0 ? 1 : TINYATTN_HEADS_AT_ONCE(d.num_heads / d.num_kv_heads);
  }
  static constexpr std::size_t scores(const tinyattn_decoder& d) noexcept {
    return d.window == 0 ? d.context_length
                         : kernel::window_scores(d.window, head_dim_of(d), heads_at_once(d));
  }
  static constexpr std::size_t integers_of_scores(const tinyattn_decoder&) noexcept { return 0; }

  TINYATTN_ALWAYS_INLINE FloatCache(const tinyattn_decoder& decoder, void* cache) noexcept
      : floats(static_cast<float*>(cache)),
        kv_width(head_dim_of(decoder) * decoder.num_kv_heads),
        tokens(cached_tokens(decoder)),
        size_of_layer(TINYATTN_DECODER_CACHE(1, kv_width, tokens)),
        heads(heads_at_once(decoder)) {}

  TINYATTN_ALWAYS_INLINE kernel::Ring<kernel::Cached> layer(std::size_t index) const noexcept {
    return {kernel::cached(floats + index * size_of_layer, kv_width, tokens), tokens, heads};
  }

  float* floats;
  std::size_t kv_width, tokens, size_of_layer, heads;
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
  static constexpr std::size_t integers_of_scores(const tinyattn_decoder& d) noexcept {
    return kernel::int8_cache_scratch(head_dim_of(d), cached_tokens(d));
  }

  TINYATTN_ALWAYS_INLINE Int8Cache(const tinyattn_decoder& decoder, void* cache) noexcept
      : words(static_cast<std::uint32_t*>(cache)),
        heads(decoder.num_kv_heads),
        head_dim(head_dim_of(decoder)),
        tokens(cached_tokens(decoder)) {}

  TINYATTN_ALWAYS_INLINE kernel::Ring<kernel::Int8Cached> layer(std::size_t index) const noexcept {
    std::uint32_t* const first =
        words + TINYATTN_DECODER_CACHE_INT8(index, heads, head_dim, tokens);
    return {parts(reinterpret_cast<std::uint8_t*>(first), heads, head_dim, tokens), tokens, 1};
  }

  // Divides the cache of a layer: TINYATTN_DECODER_CACHE_INT8 is its size.
  TINYATTN_ALWAYS_INLINE static constexpr kernel::Int8Cached parts(
      std::uint8_t* bytes, std::size_t heads, std::size_t head_dim,
      std::size_t context_length) noexcept {
    const std::size_t rows = heads * context_length;
    std::uint8_t* const values = bytes + rows * kernel::padded_to_eight(head_dim);
    std::uint8_t* const scales =
        values + heads * head_dim * kernel::padded_to_eight(context_length);
    return {bytes, values, scales, scales + rows, context_length};
  }

  std::uint32_t* words;
  std::size_t heads, head_dim, tokens;
};

// Whether TINYATTN_DECODER_CACHE_INT8 is enough: for each remainder that rounding up may leave.
consteval bool suffices_for_int8_cache() noexcept {
  std::uint8_t bytes[2 * 8 * (8 + 8 + 2)] = {};
  for (std::size_t dim = 1; dim <= 8; ++dim)
    for (std::size_t context_length = 1; context_length <= 8; ++context_length) {
      const auto end = Int8Cache::parts(bytes, 2, dim, context_length).value_scales;
      if (end + 2 * context_length >
          bytes + 4 * TINYATTN_DECODER_CACHE_INT8(1, 2, dim, context_length))
        return false;
    }
  return true;
}
static_assert(suffices_for_int8_cache());

// The same of a decoder, after the features of a token.
struct DecoderLayout {
  std::size_t block, integers, size;
};
template <class Weights, class Cache>
constexpr DecoderLayout decoder_layout(const tinyattn_decoder& d) noexcept {
  const std::size_t block = d.d_model;
  const std::size_t integers =
      block + kernel::cached_block_scratch(1, d.d_model, d.d_hidden, true, Cache::scores(d));
  return {
      block, integers,
      integers + kernel::maximum(integer_words<Weights>(1, kernel::maximum(d.d_model, d.d_hidden)),
                                 Cache::integers_of_scores(d))};
}

// Whether the macros, which C needs as constants, count what these layouts do; each part of a
// maximum is the larger one here once.
consteval bool agree_with_macros() noexcept {
  tinyattn_decoder d{};
  d.d_model = 12, d.num_heads = 4, d.num_kv_heads = 2, d.context_length = 9;
  for (d.window = 0; d.window <= 5; d.window += 5)
    for (d.d_hidden = 3; d.d_hidden <= 203; d.d_hidden += 200) {
      const std::size_t scores = d.window == 0 ? 9 : TINYATTN_WINDOW_SCORES(5, 3, 2);
      if (decoder_layout<Floats, FloatCache>(d).size !=
              TINYATTN_DECODER_SCRATCH(12, d.d_hidden, scores) ||
          decoder_layout<Int8, FloatCache>(d).size !=
              TINYATTN_DECODER_SCRATCH_INT8(12, d.d_hidden, scores))
        return false;
    }
  return layer_layout<Int8>(40, 12, 6, 5, 7).size ==
         TINYATTN_GROUPED_LAYER_SCRATCH(12, 6, 5, 7) + TINYATTN_LINEAR_SCRATCH_INT8(5, 40);
}
static_assert(agree_with_macros());

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
