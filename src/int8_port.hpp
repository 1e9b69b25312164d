// SPDX-License-Identifier: MIT
//
// The operations with int8 weights on the port of this translation unit. int8.cpp has checked the
// arguments.
#pragma once

#include "encoder_port.hpp"
#include "int8_operations.hpp"
#include "models_port.hpp"
#include "port.hpp"
#include "tinyattn/kernel/int8_cache.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

// After the floats, scratch has rows of integers for the widest input, as many as `take` returns.
static_assert(TINYATTN_LAYER_SCRATCH_INT8(3, 40, 5, 7) ==
                  TINYATTN_LAYER_SCRATCH(40, 5, 7) +
                      TINYATTN_QUERY_ROWS(5) * kernel::integer_row(40) &&
              TINYATTN_LAYER_SCRATCH_INT8(40, 3, 5, 7) ==
                  TINYATTN_LAYER_SCRATCH(3, 5, 7) +
                      TINYATTN_QUERY_ROWS(5) * kernel::integer_row(40) &&
              TINYATTN_DECODER_SCRATCH_INT8(3, 40, 5) ==
                  TINYATTN_DECODER_SCRATCH(3, 40, 5) + kernel::integer_row(40));

inline void project(const tinyattn_linear& linear, const LinearCall& call) noexcept {
  kernel::project<native_port>(call.rows, call.in, call.out_features, {call.x, call.in},
                               Int8::projection(linear), {call.out, call.out_features},
                               Int8::take(call.scratch, TINYATTN_QUERY_ROWS(call.rows)));
  Int8::give_back();
}

// In scratch a row of floats with padding comes before those of integers.
inline void convolve_int8(const tinyattn_convolution& convolution,
                          const ConvolutionCall& call) noexcept {
  const kernel::Convolution shape = shape_of(convolution, call.tokens);
  kernel::convolve<native_port>(
      shape, call.x, Int8::projection(convolution.linear), {call.out, convolution.out},
      Int8::take(call.scratch + shape.width(), TINYATTN_QUERY_ROWS(shape.rows())), call.scratch);
  Int8::give_back();
}

// A cache of int8: of all layers. A row of scores is in the scratch of integers.
struct Int8Cache {
  static std::size_t scores(const tinyattn_decoder& d) noexcept {
    return d.window == 0 ? 0 : d.d_model / d.num_heads;
  }

  TINYATTN_ALWAYS_INLINE Int8Cache(const tinyattn_decoder& decoder, void* cache) noexcept
      : words(static_cast<std::uint32_t*>(cache)),
        heads(decoder.num_kv_heads),
        head_dim(decoder.d_model / decoder.num_heads),
        tokens(cached_tokens(decoder)) {}

  TINYATTN_ALWAYS_INLINE kernel::Ring<kernel::Int8Cached> layer(std::size_t index) const noexcept {
    std::uint32_t* const first =
        words + TINYATTN_DECODER_CACHE_INT8(index, heads, head_dim, tokens);
    return {parts(reinterpret_cast<std::uint8_t*>(first), heads, head_dim, tokens), tokens};
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
// Scratch has a row of the widest input, or a query and its scores if these are more.
static_assert(TINYATTN_DECODER_SCRATCH_INT8_CACHE(3, 40, 3, 5) ==
                  TINYATTN_DECODER_SCRATCH(3, 40, 0) + kernel::integer_row(40) &&
              TINYATTN_DECODER_SCRATCH_INT8_CACHE(18, 3, 9, 33) ==
                  TINYATTN_DECODER_SCRATCH(18, 3, 0) + kernel::int8_cache_scratch(9, 33));

static constexpr Int8Operations native_int8_operations = {
    project,      plain_forward<Int8>,     masked_forward<Int8>, encode<Int8>,
    decode<Int8>, decode<Int8, Int8Cache>, convolve_int8};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
