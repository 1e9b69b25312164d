// SPDX-License-Identifier: MIT
//
// Matrix products in register tiles. Every output element is one chain of fused multiply-adds that takes
// the inner index in rising order, so neither the tile nor the width of the vector shows in a bit.
#pragma once

#include "tinyattn/kernel/operand.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// out[i][j] = start[j] + the sum over k of a[i][k] * b[k][j], k rising, each step one fma.
//
//   a      [rows, inner]   RowMajor
//   b      [inner, cols]   RowMajor or ColumnMajor
//   start  [cols]          Zero, Bias or MaybeBias
//   out    [rows, cols]    RowMajor; overwritten; may not overlap a or b
//
// Extents are Extents or numbers. NaN and infinity go through as in the plain loop.
template <class Rows, class Inner, class Cols, class A, class B, class Start, class Out>
struct Product {
  Rows rows;
  Inner inner;
  Cols cols;
  A a;
  B b;
  Start start;
  Out out;
};
template <class Rows, class Inner, class Cols, class A, class B, class Start, class Out>
Product(Rows, Inner, Cols, A, B, Start, Out) -> Product<Rows, Inner, Cols, A, B, Start, Out>;

// Rows x Vectors vectors of the output, in registers. The tile has `cols` columns, of which the last vector
// may fill some lanes only; its corner stands at row i and column j.
template <class Port, std::size_t Rows, std::size_t Vectors, class Cols>
struct Tile {
  std::size_t i;
  std::size_t j;
  Cols cols;
  typename Port::vec sums[Rows][Vectors];

  TINYATTN_ALWAYS_INLINE constexpr void start(const auto& product) noexcept {
    product.start.template load_row<Port>(j, sums[0], cols);
    TINYATTN_UNROLL
    for (std::size_t r = 1; r < Rows; ++r) {
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = sums[0][v];
    }
  }

  // sums[r][v] += a[i + r][k] * b[k][j + v] for every k.
  TINYATTN_ALWAYS_INLINE constexpr void multiply_add(const auto& product) noexcept {
    const float* factors[Rows];
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) factors[r] = product.a.at(i + r, 0);
    const auto b = product.b;
    const auto first = b.at(0, j);
    std::size_t offset = 0;
    for (std::size_t left = product.inner; left != 0; --left, offset += b.row_step()) {
      typename Port::vec row[Vectors];
      b.template load_row<Port>(first + offset, row, cols);
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto factor = Port::broadcast(*factors[r]++);
        TINYATTN_UNROLL
        for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Port::fma(factor, row[v], sums[r][v]);
      }
    }
  }

  TINYATTN_ALWAYS_INLINE constexpr void finish(const auto& product) const noexcept {
    float* row = product.out.at(i, j);
    store_row<Port>(row, sums[0], cols);
    TINYATTN_UNROLL
    for (std::size_t r = 1; r < Rows; ++r) store_row<Port>(row += product.out.row_step(), sums[r], cols);
  }
};

template <class Port, std::size_t Rows, std::size_t Vectors, class Cols>
constexpr void matmul_tile(const auto& product, std::size_t i, std::size_t j, Cols cols) noexcept {
  Tile<Port, Rows, Vectors, Cols> tile;
  tile.i = i;
  tile.j = j;
  tile.cols = cols;
  tile.start(product);
  tile.multiply_add(product);
  tile.finish(product);
}

// What is known of an extent beside the width of a tile.
template <std::size_t Width, class Count>
inline constexpr bool fills_tile = false;
template <std::size_t Width, std::size_t N>
inline constexpr bool fills_tile<Width, Extent<N>> = (N >= Width);
template <std::size_t Width, std::size_t N>
inline constexpr bool fills_tile<Width, AtLeast<N>> = (N >= Width);

// Columns that do not fill a tile: part of one, if the compiler knows their number, else one vector at a time.
template <class Port, std::size_t Rows, std::size_t Vectors, std::size_t Cols>
constexpr void matmul_few_columns(const auto& product, std::size_t i, Extent<Cols> cols) noexcept {
  matmul_tile<Port, Rows, Vectors>(product, i, 0, cols);
}
template <class Port, std::size_t Rows, std::size_t Vectors>
constexpr void matmul_few_columns(const auto& product, std::size_t i, std::size_t cols) noexcept {
  for_each_vector<Port>(cols, [&](std::size_t j, auto n) { matmul_tile<Port, Rows, 1>(product, i, j, n); });
}

// The tiles of `Rows` rows from row i on, from left to right. The last one overlaps its neighbour if it has to:
// what is computed twice comes to the same bits.
template <class Port, std::size_t Rows, std::size_t Vectors>
constexpr void matmul_rows(const auto& product, std::size_t i) noexcept {
  constexpr Extent<Vectors * Port::lanes> width;
  constexpr bool fills = fills_tile<width, std::remove_cvref_t<decltype(product.cols)>>;
  const std::size_t cols = product.cols;
  if (fills || cols >= width) {
    for (std::size_t j = 0; j < cols; j += width) matmul_tile<Port, Rows, Vectors>(product, i, smaller(j, cols - width), width);
  } else if constexpr (!fills) {
    matmul_few_columns<Port, Rows, Vectors>(product, i, product.cols);
  }
}

// The width of a tile in vectors, and its height: a quarter of the registers is left for a row of b and for the factors.
template <class Port, class Cols>
inline constexpr std::size_t tile_vectors = Port::tile_vectors;
template <class Port, std::size_t Cols>
inline constexpr std::size_t tile_vectors<Port, Extent<Cols>> = evenly((Cols + Port::lanes - 1) / Port::lanes, Port::tile_vectors);

template <class Port, std::size_t Vectors, class Rows>
inline constexpr std::size_t tile_rows = smaller(16, Port::registers * 3 / 4 / Vectors);
template <class Port, std::size_t Vectors, std::size_t Rows>
inline constexpr std::size_t tile_rows<Port, Vectors, Extent<Rows>> = evenly(Rows, tile_rows<Port, Vectors, std::size_t>);

// The tiles of a product, from top to bottom; the last ones may overlap their neighbours too.
template <class Port, class Rows, class Inner, class Cols, class A, class B, class Start, class Out>
constexpr void matmul_tiles(const Product<Rows, Inner, Cols, A, B, Start, Out>& product) noexcept {
  constexpr std::size_t vectors = tile_vectors<Port, Cols>;
  constexpr std::size_t height = tile_rows<Port, vectors, Rows>;
  const std::size_t rows = product.rows;
  if (rows >= height)
    for (std::size_t i = 0; i < rows; i += height) matmul_rows<Port, height, vectors>(product, smaller(i, rows - height));
  else if constexpr (std::is_same_v<Rows, std::size_t>)
    for (std::size_t i = 0; i < rows; ++i) matmul_rows<Port, 1, vectors>(product, i);
}

// One copy in flash for products of every shape.
template <class Port, class Product>
[[gnu::noinline]] constexpr void matmul_of_any_shape(const Product& product) noexcept {
  matmul_tiles<Port>(product);
}

template <class Rows, class Inner, class Cols>
inline constexpr bool is_small = false;
template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
inline constexpr bool is_small<Extent<Rows>, Extent<Inner>, Extent<Cols>> = (Rows * Inner * Cols <= 512);

// Small products are compiled for their shape; larger ones share a copy where flash is dear.
template <class Port, class Rows, class Inner, class Cols, class A, class B, class Start, class Out>
constexpr void matmul(const Product<Rows, Inner, Cols, A, B, Start, Out>& product) noexcept {
  if constexpr (Port::shares_code && !is_small<Rows, Inner, Cols>) {
    constexpr std::size_t width = tile_vectors<Port, Cols> * Port::lanes;
    using AnyCols = std::conditional_t<fills_tile<width, Cols>, AtLeast<width>, std::size_t>;
    matmul_of_any_shape<Port>(kernel::Product{product.rows, std::size_t{product.inner}, AnyCols{product.cols},
                                              of_any_shape(read_only(product.a)), of_any_shape(read_only(product.b)),
                                              of_any_shape(product.start), of_any_shape(product.out)});
  } else {
    matmul_tiles<Port>(product);
  }
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
