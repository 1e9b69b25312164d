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

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Whether scratch.h counts the scratch that kernels divide. Both are sums of products of the
// widths, the source tokens, the padded source tokens, and the rows of a block and of queries, each
// to the first power. So they are equal for all sizes if they are for widths and rows of 0 and 1,
// and 0, 1 and 2 source tokens.
consteval bool agree_on_scratch() noexcept {
  float scratch[3 * TINYATTN_LANES + 3] = {};
  for (unsigned sizes = 0; sizes < 3 * 8; ++sizes) {
    const std::size_t width = sizes & 1, kv_width = sizes >> 1 & 1, rows = sizes >> 2 & 1;
    const std::size_t source_tokens = sizes >> 3;
    const auto parts = kernel::parts_of(scratch, width, kv_width, source_tokens, rows, rows);
    if (parts.block.at(rows, 0) !=
        scratch + TINYATTN_GROUPED_LAYER_SCRATCH(width, kv_width, rows, source_tokens))
      return false;
  }
  return true;
}
static_assert(agree_on_scratch());

// The same for a row of integers: both round up to a multiple of 16.
consteval bool agree_on_integers() noexcept {
  for (std::size_t inputs = 0; inputs <= 16; ++inputs)
    if (kernel::integer_row(inputs) != TINYATTN_INTEGER_ROW(inputs)) return false;
  return true;
}
static_assert(agree_on_integers());

// Whether a target can address the scratch of a layer. Keys, values, a block and scores have fewer
// floats than four padded contexts for each column of the layer and each row of scores.
consteval bool fits_in_memory(std::size_t width, std::size_t context_length) noexcept {
  constexpr std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float) / 4;
  return context_length < most && width < most &&
         TINYATTN_PADDED(context_length) <= most / (width + TINYATTN_QUERY_ROWS(most));
}

// All the scratch of a layer.
template <class Port, std::size_t Width, std::size_t KvWidth, std::size_t ContextLength,
          std::size_t IntegerWidth = 0>
struct LayerWorkspace {
  static constexpr std::size_t block_rows = kernel::block_rows<Port>(ContextLength);
  static constexpr std::size_t query_rows = kernel::minimum(block_rows, Port::query_rows);
  static_assert(block_rows <= TINYATTN_BLOCK_ROWS(ContextLength) &&
                    query_rows <= TINYATTN_QUERY_ROWS(ContextLength) &&
                    TINYATTN_LANES % kernel::room_of_scores<Port>(1) == 0,
                "scratch, as scratch.h counts it, must suffice for every port");

  static_assert(fits_in_memory(Width, ContextLength),
                "a workspace has more bytes than this target can address");

  float scratch[TINYATTN_GROUPED_LAYER_SCRATCH(Width, KvWidth, ContextLength, ContextLength)];
  // As many rows as scratch.h counts, whatever the port.
  [[no_unique_address]] IntegerWorkspace<IntegerWidth, TINYATTN_QUERY_ROWS(ContextLength)> integers;

  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    return kernel::parts_of(scratch, Width, KvWidth, ContextLength, block_rows, query_rows,
                            integers.parts());
  }
};

template <auto config>
using WorkspaceOf = LayerWorkspace<native_port, config.d_out, kv_heads<config> * head_dim<config>,
                                   config.context_length, integer_width<config>>;

// Returns how many tokens a call with a cache takes at a time: from one to four, as long as their
// scratch, floats_of(rows), is no larger than eight rows of the widest layer.
constexpr std::size_t cached_rows(std::size_t widest, const auto& floats_of) noexcept {
  std::size_t rows = 4;
  while (rows > 1 && floats_of(rows) > 8 * widest) --rows;
  return rows;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
