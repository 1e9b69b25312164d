// SPDX-License-Identifier: MIT
//
// Matrix products of any shape and any operands: this header picks the tiles for a port and a
// shape. `inner` may be 0, and `cols` too: a block of queries may have no key.
#pragma once

#include "tinyattn/kernel/matmul_row.hpp"

#include <bit>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Computes a product row by row: one that is lower or narrower than a tile, or transposed, or whose
// port has tiles of one row.
template <class Port>
[[gnu::noinline]] constexpr void single_rows(const auto& p) noexcept {
  for (std::size_t i = 0; i < p.rows; ++i) cover_row<Port, row_width<Port, decltype(p.b)>>(p, i);
}

template <class Port>
TINYATTN_KERNEL void cover_with_overlap(const auto& p) noexcept {
  constexpr std::size_t height = tile_rows<Port, Port::tile_vectors>;
  // Accumulators of every row may be the output, which an overlap would add to twice.
  constexpr bool accumulates = requires { p.initial.stride; };
  if (height == 1 || accumulates || is_transposed<decltype(p.b)> || p.rows < height ||
      p.cols < Port::tile_vectors * Port::lanes)
    single_rows<Port>(p);
  else
    overlapping_tiles<Port, height>(p);
}

// out = initial + a . b. A single row, if the shape says so, takes the port's kernel for rows.
template <class Port, Shape shape = Shape{}, class AnyProduct = Product<>>
TINYATTN_KERNEL void matmul(const AnyProduct& p) noexcept {
  static_assert(operand<decltype(p.b), Port>, "b lacks from, element, load or load_n");
  if constexpr (is_specialized<Port>(shape) && !is_transposed<decltype(p.b)>)
    specialized_matmul<narrowed<Port, shape.cols>, shape>(p);
  else if constexpr (is_of_multiples<Port, AnyProduct> ||
                     (shape.rows == 1 && has_row_kernel<Port, AnyProduct>))
    matmul_row<Port>(p);
  else if constexpr (Port::tiles_overlap)
    cover_with_overlap<Port>(p);
  else if constexpr (is_transposed<decltype(p.b)>)
    cover_columns<Port, 1, 16>(p, 0);
  else if (p.rows == 1)  // one row leaves registers for more columns
    cover_columns<Port, most_row_vectors<Port>, 1>(p, 0);
  else
    cover_columns<Port, Port::tile_vectors, 16>(p, 0);
}

// Does the same for a constant shape. A product of one row is specialized only if it has up to 512
// multiply-adds, or where tiles are wide.
template <class Port, Shape shape, class AnyProduct = Product<>>
TINYATTN_KERNEL void matmul_of_shape(const AnyProduct& p) noexcept {
  constexpr bool pays = shape.inner * shape.cols <= 512 || Port::tile_vectors * Port::lanes >= 64;
  constexpr bool specialized = is_specialized<Port>(shape) && !Port::shares_code && pays;
  if constexpr (shape.rows == 1 && (!specialized || is_transposed<decltype(p.b)>))
    matmul_row<Port>(p);
  else
    matmul<Port, shape>(p);
}

// The parameters of x . weight + bias. A weight of another type than a pointer to floats is a
// pointer to data of its own, of which operand_of(weight, stride) makes an operand; or Int8Weights.
template <class Weight = const float*>
struct Projection {
  Weight weight;      // [in, out], or nullptr: no projection
  const float* bias;  // [out], or nullptr
};
TINYATTN_KERNEL Dense operand_of(const float* weight, std::size_t stride) noexcept {
  return {weight, stride};
}
template <class Weight>
using ProjectionProduct = Product<Dense, decltype(operand_of(Weight{}, 0))>;

// Scratch of projections that need none.
struct NoScratch {};

template <class Port, Shape shape = Shape{}, class Weight>
TINYATTN_KERNEL void project(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                             const Projection<Weight>& to, Output out, const auto&) noexcept {
  matmul<Port, shape>(
      ProjectionProduct<Weight>{rows, in, cols, x, operand_of(to.weight, cols), to.bias, out});
}

// Does the same for few rows, often for one.
template <class Port, class Weight>
TINYATTN_KERNEL void project_few(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                                 const Projection<Weight>& to, Output out) noexcept {
  const ProjectionProduct<Weight> p{rows, in, cols, x, operand_of(to.weight, cols), to.bias, out};
  if (rows == 1)
    matmul_row<Port>(p);
  else
    matmul<Port>(p);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
