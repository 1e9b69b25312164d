// SPDX-License-Identifier: MIT
//
// The backward pass of an embedding, whose inputs have no gradient.
#pragma once

#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/training/kernel/row.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// table[tokens[i]] += d_out[i], and row position + i of `positions`, if that is not null; i rising.
// A table that is null is frozen. Rows have table.stride or positions.stride floats.
template <class Port>
constexpr void embed_backward(Output table, Output positions, const std::uint16_t* tokens,
                              std::size_t count, std::size_t position, Dense d_out) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const float* const d = d_out.at(i, 0);
    if (!is_null(table.data)) add_row<Port>(d, table.at(tokens[i], 0), table.stride);
    if (!is_null(positions.data)) add_row<Port>(d, positions.at(position + i, 0), positions.stride);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
