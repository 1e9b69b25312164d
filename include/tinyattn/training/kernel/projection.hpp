// SPDX-License-Identifier: MIT
//
// The backward pass of a projection, x . weight + bias.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/training/kernel/transposed_product.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The gradients of a projection, to which a backward pass adds. What is null is frozen.
struct ProjectionGradient {
  float* weight = nullptr;  // [in, out]
  float* bias = nullptr;    // [out]
  float* lora_a = nullptr;  // [in, rank]: of its adapter
  float* lora_b = nullptr;  // [rank, out]

  // Whether the input is needed.
  TINYATTN_ALWAYS_INLINE constexpr bool needs_input() const noexcept {
    return !is_null(weight) || !is_null(lora_a);
  }
};

// Returns a weight, or a gradient of it, for the inputs from `first` on, of an [in, out] matrix.
TINYATTN_KERNEL const float* from_input(const float* weight, std::size_t first,
                                        std::size_t out) noexcept {
  return weight + first * out;
}
TINYATTN_KERNEL ProjectionGradient from_input(const float*, const ProjectionGradient& gradient,
                                              std::size_t first, std::size_t out) noexcept {
  return {gradient.weight + first * out};
}
TINYATTN_KERNEL ProjectionGradient from_input(const auto&, const ProjectionGradient&, std::size_t,
                                              std::size_t) noexcept {
  return {};
}

// Computes a projection of the forward pass again. That of a weight of floats is a function: its
// code would be in flash for each call, and one row is no case of its own.
template <class Port>
TINYATTN_KERNEL void project_floats(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                                    const Projection<>& to, Output out) noexcept {
  project<Port>(rows, in, cols, x, to, out, NoScratch{});
}
template <class Port, class Weight>
TINYATTN_KERNEL void project_again(std::size_t rows, std::size_t in, std::size_t cols,
                                   const auto& x, const Projection<Weight>& to, Output out,
                                   const auto&... integers) noexcept {
  if constexpr (std::same_as<Weight, const float*>)
    project_floats<Port>(rows, in, cols, x, to, out);
  else if constexpr (sizeof...(integers) == 0)
    project_few<Port>(rows, in, cols, x, to, out);
  else
    project<Port>(rows, in, cols, x, to, out, integers...);
}

// gradient.weight += x^T . d_out, gradient.bias += the rows of d_out.
template <class Port>
constexpr void add_projection_gradient(std::size_t rows, std::size_t in, std::size_t out, Dense x,
                                       Dense d_out, const ProjectionGradient& gradient) noexcept {
  if (!is_null(gradient.weight))
    add_outer_product<Port>({in, rows, out, x, d_out, {gradient.weight, out}});
  if (!is_null(gradient.bias)) add_column_sums<Port>(rows, out, d_out, gradient.bias);
}

// The same for any weight; those of other types than floats are frozen.
template <class Port>
TINYATTN_KERNEL void add_projection_gradient(std::size_t rows, std::size_t in, std::size_t out,
                                             Dense x, Dense d_out, const auto&,
                                             const ProjectionGradient& gradient) noexcept {
  add_projection_gradient<Port>(rows, in, out, x, d_out, gradient);
}

// d_x = d_out . weight^T, or d_x += that, if the chain of each element `continues`; d_x may not
// overlap d_out.
template <class Port, bool continues = false>
constexpr void project_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                const float* weight, Output d_x) noexcept {
  if constexpr (continues)
    multiply_transposed<Port>(
        Product<Dense, Transposed<>, Dense>{rows, out, in, d_out, {{weight, out}}, d_x, d_x});
  else
    multiply_transposed<Port>(
        Product<Dense, Transposed<>>{rows, out, in, d_out, {{weight, out}}, nullptr, d_x});
}

// --- Through int8 weights ---
//
// They are frozen, and are taken for the floats that they stand for, (code - 128) * scale rounded
// once, and the rounding of inputs for none: straight-through estimation.

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

// d_x += d_out . weight^T, in blocks of weights that become floats on the stack, outputs rising.
template <class Port>
[[gnu::noinline]] constexpr void add_dequantized(std::size_t rows, std::size_t in, std::size_t out,
                                                 Dense d_out, const Int8Columns& columns,
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
template <class Port, bool continues = false>
constexpr void project_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                const Int8Columns& columns, Output d_x) noexcept {
  if (!continues)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < in; ++i) *d_x.at(r, i) = 0.0f;
  add_dequantized<Port>(rows, in, out, d_out, columns, d_x);
}
template <class Port, bool continues = false>
constexpr void project_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                const Int8Weights& weights, Output d_x) noexcept {
  project_backward<Port, continues>(rows, in, out, d_out, Int8Columns{weights, row_size(in)}, d_x);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
