// SPDX-License-Identifier: MIT
//
// The memory of attention layers, whose sizes are constants of a type.
#pragma once

#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/integer_workspace.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/kernel/int8/layer.hpp"
#include "tinyattn/scratch.h"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Whether a target can address the scratch of a layer. Keys, values, a block and scores have fewer
// floats than four padded contexts for each column of the layer and each row of scores.
consteval bool fits_in_memory(std::size_t width, std::size_t context_length) noexcept {
  constexpr std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float) / 4;
  return context_length < most && width < most &&
         TINYATTN_PADDED(context_length) <= most / (width + TINYATTN_QUERY_ROWS(most));
}

// Keys and values of int8, and a scale of each for every head and token.
template <auto config, std::size_t Tokens>
struct Int8KeysAndValues {
  static_assert(Tokens <= kernel::most_inputs && head_dim<config> <= kernel::most_inputs,
                "a cache of int8 has at most 66,311 tokens, and heads of as many features: its "
                "sums have 32 bits");
  static constexpr std::size_t rows = kv_heads<config> * Tokens;

  TINYATTN_ALWAYS_INLINE constexpr kernel::Int8Cached parts() noexcept {
    return {keys, values, key_scales, value_scales, Tokens};
  }

  alignas(4) std::uint8_t keys[rows * kernel::padded_to_eight(head_dim<config>)];
  alignas(
      4) std::uint8_t values[kv_heads<config> * head_dim<config> * kernel::padded_to_eight(Tokens)];
  std::uint8_t key_scales[rows];
  std::uint8_t value_scales[rows];
};

// Those of a call without a cache, if they are of int8: floats are part of the scratch.
template <auto config>
using KeysAndValuesOfCall =
    Optional<has_int8_cache<config>, Int8KeysAndValues<config, config.context_length>>;

// All the scratch of a layer.
template <auto config>
struct LayerWorkspace {
  static constexpr std::size_t width = width_of_heads<config>, tokens = config.context_length,
                               sources = tokens + config.bias_kv,
                               kv_width = kv_heads<config> * head_dim<config>;
  static constexpr std::size_t block_rows = kernel::block_rows<native_port>(tokens);
  static constexpr std::size_t query_rows = kernel::minimum(block_rows, native_port::query_rows);
  static_assert(block_rows <= TINYATTN_BLOCK_ROWS(tokens) &&
                    query_rows <= TINYATTN_QUERY_ROWS(tokens) &&
                    TINYATTN_LANES % kernel::room_of_scores<native_port>(1) == 0,
                "scratch, as scratch.h counts it, must suffice for every port");
  static_assert(fits_in_memory(width, sources),
                "a workspace has more bytes than this target can address");

  float scratch[has_int8_cache<config> ? kernel::int8_layer_scratch(width, tokens)
                                       : kernel::layer_scratch(width, kv_width, tokens, sources)];
  // As many rows as scratch.h counts, whatever the port.
  [[no_unique_address]] IntegerWorkspace<integer_width<config>, TINYATTN_QUERY_ROWS(tokens),
                                         words_of_call<config>>
      integers;
  [[no_unique_address]] KeysAndValuesOfCall<config> keys_and_values;

  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    return parts_of(scratch, integers.parts(), keys_and_values);
  }
  // Divides a scratch that a layer shares with other parts of a block.
  TINYATTN_ALWAYS_INLINE static constexpr auto parts_of(float* floats, const auto& integers,
                                                        auto& keys_and_values) noexcept {
    if constexpr (has_int8_cache<config>)
      return kernel::int8_parts_of(floats, width, keys_and_values.parts(), cached_tokens<config>,
                                   block_rows, integers);
    else
      return kernel::parts_of(floats, width, kv_width, sources, block_rows, query_rows, integers);
  }
};

// Returns how many tokens a call with a cache takes at a time: from one to four, as long as their
// scratch, floats_of(rows), is no larger than eight rows of the widest layer.
constexpr std::size_t cached_rows(std::size_t widest, const auto& floats_of) noexcept {
  std::size_t rows = 4;
  while (rows > 1 && floats_of(rows) > 8 * widest) --rows;
  return rows;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
