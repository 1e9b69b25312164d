// SPDX-License-Identifier: MIT
//
// The two products of a backward pass. The gradient of a weight is a sum of outer products over
// tokens; that of an input is a product with the transposed weight. In both, the chain of an
// element may go on from what it holds, so that no element is computed twice. Each has one copy in
// flash.
#pragma once

#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// --- Tiles of one size, where code is scarce ---

// The height of a tile of an outer product: that of the port's own, or of any product.
template <class Port>
inline constexpr std::size_t outer_rows = [] {
  if constexpr (requires { Port::outer_rows; })
    return Port::outer_rows;
  else
    return tile_rows<Port, Port::tile_vectors>;
}();

// Copies the elements of a tile from row i and column j on.
template <std::size_t Rows, std::size_t Width>
TINYATTN_KERNEL void copy_tile(Dense from, Output to, std::size_t i, std::size_t j) noexcept {
  for (; i < Rows; ++i)
    for (std::size_t column = j; column < Width; ++column) *to.at(i, column) = *from.at(i, column);
}

// Computes all tiles. The last one in each direction overlaps its neighbour: it is computed in a
// copy, of which only the elements that are new are copied back.
template <class Port, std::size_t Rows, std::size_t Vectors>
TINYATTN_KERNEL void tiles_of_one_size(const auto& p) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes;
  for (std::size_t row = 0; row < p.rows; row += Rows)
    for (std::size_t column = 0; column < p.cols; column += width) {
      const std::size_t i = minimum(row, p.rows - Rows), j = minimum(column, p.cols - width);
      auto one = p;
      one.a = p.a.from(i, 0);
      one.b = p.b.from(0, j);
      one.out = p.out.from(i, j);
      float copy[Rows * width];
      const bool overlaps = i != row || j != column;
      if (overlaps) {
        copy_tile<Rows, width>(one.out, {copy, width}, 0, 0);
        one.out = {copy, width};
      }
      one.initial = one.out;
      tile<Port, Rows, Vectors>(one, one.a, 0, 0);
      if (overlaps) copy_tile<Rows, width>(one.out, p.out.from(i, j), row - i, column - j);
    }
}

// --- Outer products ---

// out[i][j] += the sum over k of a[k][i] * b[k][j]. The chain of fma of each element goes on from
// what it holds, k rising: so tokens and sequences that follow one another are one chain, however
// they are divided into calls.
struct OuterProduct {
  std::size_t rows, inner, cols;
  Dense a;     // [inner, rows]
  Dense b;     // [inner, cols]
  Output out;  // [rows, cols]; may not overlap a or b
};

template <class Port>
[[gnu::noinline]] constexpr void add_outer_product(const OuterProduct& outer) noexcept {
  const Product<Transposed<>, Dense, Dense> p{outer.rows, outer.inner, outer.cols, {outer.a},
                                              outer.b,    outer.out,   outer.out};
  if constexpr (adds_multiples<Port>) {
    for (std::size_t i = 0; i < p.rows; ++i)
      for (std::size_t k = 0; k < p.inner; ++k)
        Port::add_multiple(*outer.a.at(k, i), p.b.at(k, 0), 1, p.out.at(i, 0), p.cols);
  } else if constexpr (!Port::tiles_overlap) {
    cover_columns<Port, Port::tile_vectors, 16>(p, 0);
  } else if (p.rows < outer_rows<Port> || p.cols < Port::tile_vectors * Port::lanes) {
    for (std::size_t i = 0; i < p.rows; ++i) cover_row<Port, 1>(p, i);
  } else {
    tiles_of_one_size<Port, outer_rows<Port>, Port::tile_vectors>(p);
  }
}

// --- Products with a transposed matrix ---

// How many floats of b are transposed at a time: 4 KB, or 1 KB where memory is scarce.
template <class Port>
inline constexpr std::size_t packed_size = Port::shares_code ? 256 : 1024;

// Computes the product in blocks of b: each is transposed, then multiplied as any matrix is. The
// chains go on from block to block in `out`.
template <class Port>
TINYATTN_KERNEL void multiply_packed(const Product<Dense, Transposed<>, Dense>& p) noexcept {
  constexpr std::size_t width = Port::tile_vectors * Port::lanes,
                        height = packed_size<Port> / width;
  for (std::size_t j = 0; j < p.cols; j += width) {
    const std::size_t cols = minimum(width, p.cols - j);
    Dense initial = is_null(p.initial.data) ? Dense{zeros<width>, 0} : p.initial.from(0, j);
    std::size_t k = 0;
    do {
      float packed[packed_size<Port>];
      const std::size_t inner = minimum(height, p.inner - k);
      transpose<Port>(cols, inner, p.b.stored.from(j, k), {packed, cols});
      const Product<Dense, Dense, Dense> block{
          p.rows, inner, cols, p.a.from(0, k), {packed, cols}, initial, p.out.from(0, j)};
      if constexpr (Port::tiles_overlap)
        for (std::size_t i = 0; i < p.rows; ++i) cover_row<Port, Port::tile_vectors>(block, i);
      else
        cover_columns<Port, Port::tile_vectors, 16>(block, 0);
      initial = block.out;
      k += inner;
    } while (k != p.inner);
  }
}

template <class Port>
[[gnu::noinline]] constexpr void multiply_by_transposed(
    const Product<Dense, Transposed<>, Dense>& p) noexcept {
  if constexpr (adds_multiples<Port>) {
    for (std::size_t i = 0; i < p.rows; ++i) {
      const float* const initial = is_null(p.initial.data) ? nullptr : p.initial.at(i, 0);
      const Product<> row{1,          p.inner, p.cols,          p.a.from(i, 0),
                          p.b.stored, initial, p.out.from(i, 0)};
      add_multiples<Port>(row, row.b.data, 1, row.b.stride);
    }
  } else {
    multiply_packed<Port>(p);
  }
}

// out = initial + a . b: each sum is one chain of fma. `initial` may be the output.
template <class Port, class Initial = Bias>
TINYATTN_KERNEL void multiply_transposed(const Product<Dense, Transposed<>, Initial>& p) noexcept {
  Dense initial{p.initial.data, 0};  // of a Bias, the same for all rows
  if constexpr (requires { p.initial.stride; }) initial.stride = p.initial.stride;
  multiply_by_transposed<Port>(
      Product<Dense, Transposed<>, Dense>{p.rows, p.inner, p.cols, p.a, p.b, initial, p.out});
}

// sums[j] += row i of x, i rising.
template <class Port>
TINYATTN_KERNEL void add_column_sums(std::size_t rows, std::size_t cols, Dense x,
                                     float* sums) noexcept {
  for (std::size_t i = 0; i < rows; ++i) add_rows<Port>(sums, x.at(i, 0), sums, cols);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
