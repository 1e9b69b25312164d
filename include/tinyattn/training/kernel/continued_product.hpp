// SPDX-License-Identifier: MIT
//
// Sums that go on: the chain of each element of a product begins at what the output holds, so that
// no element may be computed twice. The gradient of a weight is such a sum of outer products over
// tokens. Each product has one copy in flash.
#pragma once

#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/tile.hpp"
#include "tinyattn/training/kernel/row.hpp"

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

// Computes the columns from column `begin` on, up to `end`, of which `last` fill the last vector of
// each tile; the rows that are left after the last tile in tiles of one row.
template <class Port, std::size_t Vectors, TileKind kind>
[[gnu::noinline]] constexpr void columns_of_tiles(const auto& p, std::size_t begin, std::size_t end,
                                                  std::size_t last) noexcept {
  constexpr std::size_t height = outer_rows<Port>;
  for (std::size_t j = begin; j < end; j += Vectors * Port::lanes) {
    auto a = p.a;
    std::size_t i = 0;
    for (; p.rows - i >= height; i += height, a = a.from(height, 0))
      tile<Port, height, Vectors, kind>(p, a, i, j, last);
    for (; i < p.rows; ++i, a = a.from(1, 0)) tile<Port, 1, Vectors, kind>(p, a, i, j, last);
  }
}

// Computes all tiles of one width, then columns of one vector. No tile overlaps its neighbour.
template <class Port>
TINYATTN_KERNEL void cover_exactly(const auto& p) noexcept {
  constexpr std::size_t lanes = Port::lanes;
  const std::size_t end = p.cols - p.cols % (Port::tile_vectors * lanes),
                    whole = p.cols - p.cols % lanes;
  columns_of_tiles<Port, Port::tile_vectors, TileKind{}>(p, 0, end, lanes);
  if constexpr (lanes == 1) {
    columns_of_tiles<Port, 1, TileKind{}>(p, end, p.cols, lanes);
  } else {
    columns_of_tiles<Port, 1, TileKind{false}>(p, end, whole, lanes);
    columns_of_tiles<Port, 1, TileKind{false}>(p, whole, p.cols, p.cols - whole);
  }
}

// Computes all tiles: of one size where code is scarce, otherwise of `Vectors` vectors and
// narrower.
template <class Port, std::size_t Vectors>
TINYATTN_KERNEL void cover_once(const auto& p) noexcept {
  if constexpr (Port::tiles_overlap)
    cover_exactly<Port>(p);
  else
    cover_columns<Port, Vectors, 16>(p, 0);
}

// --- Tiles of outer products ---

// sums[r][v] += a[k][r] * b[k][v], k rising. Elements of `a` for one k lie next to each other:
// `a` is transposed as it is stored.
template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_KERNEL void multiply_add_outer(typename Port::vec (&sums)[Rows][Vectors],
                                        std::size_t inner, Transposed<> a, Dense b,
                                        std::size_t last) noexcept {
  if (inner == 0) return;
  Dense elements = a.stored;
  while (true) {
    typename Port::vec row[Vectors];
    load_row<Port, kind>(b, last, row);
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto broadcast = Port::broadcast(elements.data[r]);
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v)
        sums[r][v] = Port::fma(broadcast, row[v], sums[r][v]);
    }
    if (--inner == 0) return;
    elements = elements.from(1, 0);  // not after the last row: there is none
    b = b.from(1, 0);
  }
}

// Computes a tile as that of any product is. A port may have tiles of its own for whole vectors,
// which go on from what the output holds.
template <class Port, std::size_t Rows, std::size_t Vectors, TileKind kind = TileKind{}>
TINYATTN_KERNEL void tile(const Product<Transposed<>, Dense, Dense>& p, Transposed<> a,
                          std::size_t i, std::size_t j, std::size_t last = Port::lanes) noexcept {
  if constexpr (kind.is_whole && requires(const float* from, float* to) {
                  Port::template outer_tile<Rows, Vectors>(from, 0, from, 0, to, 0, 0);
                }) {
    Port::template outer_tile<Rows, Vectors>(a.stored.data, a.stored.stride, p.b.at(0, j),
                                             p.b.stride, p.out.at(i, j), p.out.stride, p.inner);
  } else {
    typename Port::vec sums[Rows][Vectors];
    initialize_sums<Port, kind>(sums, initial_at<Port, Vectors * Port::lanes>(p, i, j), last);
    multiply_add_outer<Port, kind>(sums, p.inner, a, p.b.from(0, j), last);
    store_sums<Port, kind>(sums, p.out.from(i, j), last);
  }
}

// --- Products ---

// out += a . b, k rising.
template <class Port>
TINYATTN_KERNEL void continue_product(const auto& p) noexcept {
  if constexpr (adds_multiples<Port>) {
    for (std::size_t i = 0; i < p.rows; ++i)
      for (std::size_t k = 0; k < p.inner; ++k)
        Port::add_multiple(p.a.template element<Port>(i, k), p.b.at(k, 0), 1, p.out.at(i, 0),
                           p.cols);
  } else {
    cover_once<Port, Port::tile_vectors>(p);
  }
}

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
[[gnu::noinline]] constexpr void add_outer_product(const OuterProduct& p) noexcept {
  continue_product<Port>(
      Product<Transposed<>, Dense, Dense>{p.rows, p.inner, p.cols, {p.a}, p.b, p.out, p.out});
}

// out += a . b: the same for another matrix a.
template <class Port>
[[gnu::noinline]] constexpr void add_product(const Product<Dense, Dense, Dense>& p) noexcept {
  continue_product<Port>(p);
}
template <class Port>
TINYATTN_KERNEL void add_product(std::size_t rows, std::size_t inner, std::size_t cols, Dense a,
                                 Dense b, Output out) noexcept {
  add_product<Port>(Product<Dense, Dense, Dense>{rows, inner, cols, a, b, out, out});
}

// sums[j] += row i of x, i rising.
template <class Port>
TINYATTN_KERNEL void add_column_sums(std::size_t rows, std::size_t cols, Dense x,
                                     float* sums) noexcept {
  for (std::size_t i = 0; i < rows; ++i) add_row<Port>(x.at(i, 0), sums, cols);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
