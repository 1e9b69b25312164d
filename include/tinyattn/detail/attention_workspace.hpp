// SPDX-License-Identifier: MIT
//
// The memory of attention layers, whose sizes are constants of a type.
#pragma once

#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/integer_workspace.hpp"
#include "tinyattn/kernel/layer.hpp"
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

// All the scratch of a layer.
template <auto config>
struct LayerWorkspace {
  static constexpr std::size_t width = config.d_out, tokens = config.context_length,
                               kv_width = kv_heads<config> * head_dim<config>;
  static constexpr std::size_t block_rows = kernel::block_rows<native_port>(tokens);
  static constexpr std::size_t query_rows = kernel::minimum(block_rows, native_port::query_rows);
  static_assert(block_rows <= TINYATTN_BLOCK_ROWS(tokens) &&
                    query_rows <= TINYATTN_QUERY_ROWS(tokens) &&
                    TINYATTN_LANES % kernel::room_of_scores<native_port>(1) == 0,
                "scratch, as scratch.h counts it, must suffice for every port");
  static_assert(fits_in_memory(width, tokens),
                "a workspace has more bytes than this target can address");

  float scratch[kernel::layer_scratch(width, kv_width, tokens, tokens)];
  // As many rows as scratch.h counts, whatever the port.
  [[no_unique_address]] IntegerWorkspace<integer_width<config>, TINYATTN_QUERY_ROWS(tokens)>
      integers;

  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    return kernel::parts_of(scratch, width, kv_width, tokens, block_rows, query_rows,
                            integers.parts());
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
