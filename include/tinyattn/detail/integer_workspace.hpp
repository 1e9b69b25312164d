// SPDX-License-Identifier: MIT
//
// Scratch for inputs that are quantized next to int8 weights.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Returns how many integers `rows` rows of up to `Width` inputs take, at least Words.
template <std::size_t Width, std::size_t Words = 0>
constexpr std::size_t integer_words(std::size_t rows) noexcept {
  return Width == 0 ? Words : kernel::maximum(rows * kernel::integer_row(Width), Words);
}

// Room for `Rows` rows of up to `Width` inputs, and for `Words` integers at least.
template <std::size_t Width, std::size_t Rows, std::size_t Words = 0>
struct IntegerWorkspace {
  std::int32_t q[integer_words<Width, Words>(Rows)];

  TINYATTN_ALWAYS_INLINE constexpr kernel::IntegerScratch parts() noexcept { return {q, Rows}; }
};

// A width of 0 means float weights, which need no scratch.
template <std::size_t Rows>
struct IntegerWorkspace<0, Rows, 0> {
  TINYATTN_ALWAYS_INLINE constexpr kernel::NoScratch parts() noexcept { return {}; }
};

// Returns how many rows of a layer without a workspace are quantized at a time, on the stack: at
// most 4 KB, or one row; 48 KB where many rows are computed from panels.
template <class Port>
constexpr std::size_t rows_on_stack(std::size_t rows, std::size_t width) noexcept {
  constexpr std::size_t most_rows = kernel::sums_panels<Port> ? 16 : 4,
                        most_words = kernel::sums_panels<Port> ? 12 * 1024 : 1024;
  const std::size_t most = most_words / kernel::integer_row(width);
  return kernel::minimum(rows, most == 0 ? 1 : kernel::minimum(most, most_rows));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
