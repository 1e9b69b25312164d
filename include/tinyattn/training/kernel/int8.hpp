// SPDX-License-Identifier: MIT
//
// The backward pass through int8 weights, which are frozen. It takes the weights for the floats
// that they stand for, (code - 128) * scale rounded once, and the rounding of inputs for none:
// straight-through estimation.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/training/kernel/projection.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Columns of int8 weights: those of some inputs.
struct Int8Columns {
  Int8Weights weights;  // whose codes begin at the first of the inputs
  std::size_t stride;   // of rows of codes
};
// Returns the columns from input `first` on of weights with as many inputs as outputs.
TINYATTN_KERNEL Int8Columns from_input(const Int8Weights& weights, std::size_t first,
                                       std::size_t out) noexcept {
  return {{weights.codes + first, weights.scales}, row_size(out)};
}

// block[o][j] = the weight of output first + o for input i + j.
template <class Port>
TINYATTN_KERNEL void dequantize(const Int8Columns& columns, std::size_t first, std::size_t i,
                                std::size_t rows, std::size_t cols, Output block) noexcept {
  using Single = typename Port::one_lane;
  for (std::size_t o = 0; o < rows; ++o) {
    const std::uint8_t* const codes = columns.weights.codes + (first + o) * columns.stride + i;
    for (std::size_t j = 0; j < cols; ++j)
      *block.at(o, j) =
          Single::mul(static_cast<float>(codes[j] - 128), columns.weights.scales[first + o]);
  }
}

// d_x += d_out . weight^T, in blocks of weights that become floats on the stack: the chain of each
// element goes on, outputs rising.
template <class Port>
[[gnu::noinline]] constexpr void add_projected_backward(std::size_t rows, std::size_t in,
                                                        std::size_t out, Dense d_out,
                                                        const Int8Columns& columns,
                                                        Output d_x) noexcept {
  constexpr std::size_t width = packed_cols<Port>, height = packed_size<Port> / width;
  for (std::size_t i = 0; i < in; i += width)
    for (std::size_t o = 0; o < out; o += height) {
      alignas(Port::lanes * sizeof(float)) float block[packed_size<Port>];
      const std::size_t cols = minimum(width, in - i), inner = minimum(height, out - o);
      dequantize<Port>(columns, o, i, inner, cols, {block, width});
      add_product<Port>(rows, inner, cols, d_out.from(0, o), {block, width}, d_x.from(0, i));
    }
}
template <class Port>
constexpr void add_projected_backward(std::size_t rows, std::size_t in, std::size_t out,
                                      Dense d_out, const Int8Weights& weights,
                                      Output d_x) noexcept {
  add_projected_backward<Port>(rows, in, out, d_out, Int8Columns{weights, row_size(in)}, d_x);
}

// d_x = d_out . weight^T, each element a chain from +0.
template <class Port>
constexpr void project_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                const Int8Columns& columns, Output d_x) noexcept {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < in; ++i) *d_x.at(r, i) = 0.0f;
  add_projected_backward<Port>(rows, in, out, d_out, columns, d_x);
}
template <class Port>
constexpr void project_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                const Int8Weights& weights, Output d_x) noexcept {
  project_backward<Port>(rows, in, out, d_out, Int8Columns{weights, row_size(in)}, d_x);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
