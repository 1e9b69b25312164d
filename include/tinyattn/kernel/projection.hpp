// SPDX-License-Identifier: MIT
//
// A projection of rows: x . weight + bias.
#pragma once

#include "tinyattn/kernel/matmul_row.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Without a weight there is no projection.
struct Projection {
  const float* weight;  // [in, out]
  const float* bias;    // [out], or nullptr
};

// out = x . weight + bias for `rows` rows of x.
template <class Port, Shape shape = Shape{}>
TINYATTN_ALWAYS_INLINE constexpr void project(std::size_t rows, std::size_t in, std::size_t cols,
                                              Input x, const Projection& to,
                                              std::size_t weight_stride, Output out) noexcept {
  matmul<Port, shape>({rows, in, cols, x, {to.weight, weight_stride}, to.bias, out});
}

// The same for few rows, often for one.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void project_few(std::size_t rows, std::size_t in,
                                                  std::size_t cols, Input x, const Projection& to,
                                                  Output out) noexcept {
  matmul_rows<Port>({rows, in, cols, x, {to.weight, cols}, to.bias, out});
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
