// SPDX-License-Identifier: MIT
//
// The two products of a backward pass. The gradient of a weight is a sum of outer products over
// tokens; that of an input is a product with the transposed weight. In both, the chain of an
// element may go on from what it holds, so that no element is computed twice. Each has one copy in
// flash.
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

// --- Outer products ---

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
  } else {
    cover_once<Port, Port::tile_vectors>(p);
  }
}

// --- Products that go on ---

// out += a . b: the chain of each element goes on.
template <class Port>
[[gnu::noinline]] constexpr void add_product(const Product<Dense, Dense, Dense>& p) noexcept {
  if constexpr (adds_multiples<Port>) {
    for (std::size_t i = 0; i < p.rows; ++i)
      for (std::size_t k = 0; k < p.inner; ++k)
        Port::add_multiple(*p.a.at(i, k), p.b.at(k, 0), 1, p.out.at(i, 0), p.cols);
  } else {
    cover_once<Port, Port::tile_vectors>(p);
  }
}
template <class Port>
TINYATTN_KERNEL void add_product(std::size_t rows, std::size_t inner, std::size_t cols, Dense a,
                                 Dense b, Output out) noexcept {
  add_product<Port>(Product<Dense, Dense, Dense>{rows, inner, cols, a, b, out, out});
}

// --- Products with a transposed matrix ---

// How many floats of b are transposed at a time, 4 KB or, where memory is scarce, 1 KB; and of how
// many columns: of a tile, but not so many that few steps of k are left.
template <class Port>
inline constexpr std::size_t packed_size = Port::shares_code ? 256 : 1024;
template <class Port>
inline constexpr std::size_t packed_cols = minimum(Port::tile_vectors* Port::lanes, 32);

// Computes the product in blocks of b: each is transposed, then multiplied as any matrix is. The
// chains go on from block to block in `out`.
template <class Port>
TINYATTN_KERNEL void multiply_packed(const Product<Dense, Transposed<>, Dense>& p) noexcept {
  constexpr std::size_t width = packed_cols<Port>, height = packed_size<Port> / width;
  for (std::size_t j = 0; j < p.cols; j += width) {
    const std::size_t cols = minimum(width, p.cols - j);
    Dense initial = is_null(p.initial.data) ? Dense{zeros<width>, 0} : p.initial.from(0, j);
    std::size_t k = 0;
    do {
      alignas(Port::lanes * sizeof(float)) float packed[packed_size<Port>];
      const std::size_t inner = minimum(height, p.inner - k);
      transpose<Port>(cols, inner, p.b.stored.from(j, k), {packed, width});
      const Product<Dense, Dense, Dense> block{
          p.rows, inner, cols, p.a.from(0, k), {packed, width}, initial, p.out.from(0, j)};
      cover_once<Port, width / Port::lanes>(block);
      initial = block.out;
      k += inner;
    } while (k != p.inner);
  }
}

// Computes the product row by row, as forward passes do. Where the last columns of a row would
// overlap their neighbours, which their sums may continue, they are computed by themselves.
template <class Port>
TINYATTN_KERNEL void multiply_row_by_row(const Product<Dense, Transposed<>, Dense>& p) noexcept {
  const std::size_t left = p.cols % Port::dot_products;
  for (std::size_t i = 0; i < p.rows; ++i) {
    const auto columns = [&](std::size_t j, std::size_t count) TINYATTN_INLINE_LAMBDA {
      const float* const initial = is_null(p.initial.data) ? nullptr : p.initial.at(i, j);
      matmul_row<Port>(Product<Dense, Transposed<>>{
          1, p.inner, count, p.a.from(i, 0), {p.b.stored.from(j, 0)}, initial, p.out.from(i, j)});
    };
    columns(0, p.cols - left);
    if (left != 0) columns(p.cols - left, left);
  }
}

template <class Port>
concept has_dot_columns = requires(const float* from, float* to) {
  Port::dot_columns(0, 0, from, 0, from, 0, from, 0, to, 0);
};

// Computes the product by the port's columns of dot products. Where the last columns overlap their
// neighbours, which their sums may continue, those that are new are copied from an array.
template <class Port>
TINYATTN_KERNEL void multiply_by_dots(const Product<Dense, Transposed<>, Dense>& p) noexcept {
  constexpr std::size_t width = Port::dot_products;
  const bool is_zero = is_null(p.initial.data);
  for (std::size_t begin = 0; begin < p.cols; begin += width) {
    const std::size_t j = minimum(begin, p.cols - width);
    const auto columns = [&](std::size_t i, std::size_t rows, Output out) TINYATTN_INLINE_LAMBDA {
      const Dense initial = is_zero ? Dense{zeros<width>, 0} : p.initial.from(i, j);
      Port::dot_columns(rows, p.inner, p.a.at(i, 0), p.a.stride, p.b.stored.at(j, 0),
                        p.b.stored.stride, initial.data, initial.stride, out.data, out.stride);
    };
    if (j == begin || is_zero) {
      columns(0, p.rows, p.out.from(0, j));
      continue;
    }
    for (std::size_t i = 0; i < p.rows; ++i) {
      float sums[width];
      columns(i, 1, {sums, 0});
      for (std::size_t q = begin - j; q < width; ++q) *p.out.at(i, j + q) = sums[q];
    }
  }
}

// Computes the product by the port's tiles of `dot_rows` rows and one vector of columns. Rows and
// columns after the last are the last again: what is computed twice is stored twice, the same.
template <class Port>
TINYATTN_KERNEL void multiply_by_dot_tiles(const Product<Dense, Transposed<>, Dense>& p) noexcept {
  constexpr std::size_t lanes = Port::lanes, height = Port::dot_rows;
  const bool is_zero = is_null(p.initial.data);
  for (std::size_t i = 0; i < p.rows; i += height) {
    const float *a[height], *from[height];
    float* to[height];
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < height; ++r) {
      const std::size_t row = minimum(i + r, p.rows - 1);
      a[r] = p.a.at(row, 0);
      from[r] = is_zero ? nullptr : p.initial.at(row, 0);
      to[r] = p.out.at(row, 0);
    }
    Dense b = p.b.stored;
    for (std::size_t left = p.cols; left != 0;) {
      const std::size_t count = minimum(lanes, left);
      typename Port::vec sums[height];
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < height; ++r) sums[r] = Port::splat(0.0f);
      if (!is_zero) {
        TINYATTN_UNROLL
        for (std::size_t r = 0; r < height; ++r) {
          sums[r] = Port::load_n(from[r], count, 0.0f);
          from[r] += lanes;
        }
      }
      Port::dot_tile(a, b.data, b.stride, count, p.inner, sums);
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < height; ++r) {
        Port::store_n(to[r], sums[r], count);
        to[r] += lanes;
      }
      b = b.from(lanes, 0);
      left -= count;
    }
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
  } else if constexpr (requires { Port::dot_rows; }) {
    multiply_by_dot_tiles<Port>(p);
  } else if constexpr (Port::lanes == 1 && requires { Port::dot_products; }) {
    if constexpr (has_dot_columns<Port>)
      if (p.cols >= Port::dot_products) return multiply_by_dots<Port>(p);
    multiply_row_by_row<Port>(p);
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
  for (std::size_t i = 0; i < rows; ++i) add_row<Port>(x.at(i, 0), sums, cols);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
