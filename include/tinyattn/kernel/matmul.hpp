// SPDX-License-Identifier: MIT
//
// Matrix products in tiles.
#pragma once

#include "tinyattn/kernel/parts.hpp"
#include "tinyattn/kernel/tile.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// The height of a tile: a quarter of the registers is left for a row of b and for the factors.
template <class Port, std::size_t Vectors>
inline constexpr std::size_t tile_rows = smaller(16, Port::registers * 3 / 4 / Vectors);

// The width of a tile in vectors: what the port says, or more where few rows leave registers for it.
template <class Port, class Rows>
inline constexpr std::size_t tile_vectors = Port::tile_vectors;
template <class Port, std::size_t Rows>
requires(Rows* Port::tile_vectors <
         Port::registers * 3 / 4) inline constexpr std::size_t tile_vectors<Port, Extent<Rows>> = smaller(16,
                                                                                                          Port::registers * 3 / 4 / Rows);

// The tiles of the `cols` columns from column j on, from top to bottom.
template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void matmul_columns(const auto& product, std::size_t j, auto cols) noexcept {
  for_each_part<tile_rows<Port, Vectors>>(
      product.rows, [&](std::size_t i, auto rows) TINYATTN_INLINE_LAMBDA { inline_tile<Port, rows, Vectors>(product, i, j, cols); });
}

// Whole tiles and a narrower one, where a row of a whole tile takes one instruction to load.
template <class Port, std::size_t Cols>
TINYATTN_ALWAYS_INLINE constexpr void matmul_whole_tiles(const auto& product, Extent<Cols>) noexcept {
  constexpr Extent<Port::tile_vectors> width;
  constexpr Extent<Cols % width> rest;
  for (std::size_t j = 0; j + width <= Cols; j += width) matmul_columns<Port, width>(product, j, width);
  if constexpr (rest != 0) matmul_columns<Port, rest>(product, Cols - rest, rest);
}

// The tiles of a product, panel after panel of columns, so that a panel of b stays near. What does not fill a vector is part of
// the last panel if the compiler knows the number of columns, and else a panel of its own.
template <class Port, std::size_t Cols>
requires(has_neighbours<Port, Port::tile_vectors, 1>&& Cols > Port::tile_vectors) TINYATTN_ALWAYS_INLINE
    constexpr void matmul_tiles(const auto& product, Extent<Cols> cols) noexcept {
  matmul_whole_tiles<Port>(product, cols);
}
template <class Port, std::size_t Cols>
TINYATTN_ALWAYS_INLINE constexpr void matmul_tiles(const auto& product, Extent<Cols> cols) noexcept {
  constexpr Extent<(Cols + Port::lanes - 1) / Port::lanes> all;
  for_each_part<tile_vectors<Port, decltype(product.rows)>>(all, [&](std::size_t first, auto vectors) TINYATTN_INLINE_LAMBDA {
    constexpr std::size_t width = vectors * Port::lanes;
    constexpr std::size_t last = cols - (all - vectors) * Port::lanes;
    if (last == width || first + vectors < all)
      matmul_columns<Port, vectors>(product, first * Port::lanes, Extent<width>{});
    else
      matmul_columns<Port, vectors>(product, first * Port::lanes, Extent<last>{});
  });
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void matmul_tiles(const auto& product, std::size_t cols) noexcept {
  const std::size_t rest = cols % Port::lanes;
  for_each_part<tile_vectors<Port, decltype(product.rows)>>(
      cols / Port::lanes, [&](std::size_t first, auto vectors) TINYATTN_INLINE_LAMBDA {
        matmul_columns<Port, vectors>(product, first * Port::lanes, Extent<vectors * Port::lanes>{});
      });
  if (rest != 0) matmul_columns<Port, 1>(product, cols - rest, rest);
}

// --- Where flash is dear: the last tile overlaps its neighbour instead of being smaller ---

// Calls step(first) for the parts of `Size` elements that cover `count`, which is no less.
template <std::size_t Size>
TINYATTN_ALWAYS_INLINE constexpr void for_each_overlapping(std::size_t count, const auto& step) noexcept {
  const std::size_t last = count - Size;
  for (std::size_t first = 0;; first = smaller(first + Size, last)) {
    step(first);
    if (first == last) return;
  }
}

// Columns that do not fill a tile: part of one, if the compiler knows their number, else one vector at a time.
template <class Port, std::size_t Rows, std::size_t Vectors, std::size_t Cols>
constexpr void overlapping_few_columns(const auto& product, std::size_t i, Extent<Cols> cols) noexcept {
  matmul_tile<Port, Rows, Vectors>(product, i, 0, cols);
}
template <class Port, std::size_t Rows, std::size_t Vectors>
constexpr void overlapping_few_columns(const auto& product, std::size_t i, std::size_t cols) noexcept {
  for_each_vector<Port>(cols, [&](std::size_t j, auto n) { matmul_tile<Port, Rows, 1>(product, i, j, n); });
}

// The tiles of `Rows` rows from row i on, from left to right. The last one overlaps its neighbour if it has to:
// what is computed twice comes to the same bits.
template <class Port, std::size_t Rows, std::size_t Vectors>
constexpr void overlapping_rows(const auto& product, std::size_t i) noexcept {
  constexpr Extent<Vectors * Port::lanes> width;
  constexpr bool fills = is_at_least<width, std::remove_cvref_t<decltype(product.cols)>>;
  const std::size_t cols = product.cols;
  if constexpr (requires { product.cols.rest(); }) {
    constexpr Extent<decltype(product.cols.rest()){}> rest;
    for (std::size_t j = 0; j < cols - rest; j += width) matmul_tile<Port, Rows, Vectors>(product, i, j, width);
    matmul_tile<Port, Rows, rest>(product, i, cols - rest, rest);
  } else if (fills || cols >= width) {
    for_each_overlapping<width>(cols,
                                [&](std::size_t j) TINYATTN_INLINE_LAMBDA { matmul_tile<Port, Rows, Vectors>(product, i, j, width); });
  } else if constexpr (!fills) {
    overlapping_few_columns<Port, Rows, Vectors>(product, i, product.cols);
  }
}

// The width of a tile in vectors, and its height.
template <class Port, class Cols>
inline constexpr std::size_t overlapping_vectors = Port::tile_vectors;
template <class Port, std::size_t Cols>
inline constexpr std::size_t overlapping_vectors<Port, Extent<Cols>> = evenly((Cols + Port::lanes - 1) / Port::lanes, Port::tile_vectors);

template <class Port, std::size_t Vectors, class Rows>
inline constexpr std::size_t even_tile_rows = tile_rows<Port, Vectors>;
template <class Port, std::size_t Vectors, std::size_t Rows>
inline constexpr std::size_t even_tile_rows<Port, Vectors, Extent<Rows>> = evenly(Rows, tile_rows<Port, Vectors>);
template <class Port, std::size_t Vectors, std::size_t Rows>
inline constexpr std::size_t even_tile_rows<Port, Vectors, AtLeast<Rows>> = Rows;

// The tiles of a product, from top to bottom; the last ones may overlap their neighbours too.
template <class Port, class Rows, class Inner, class Cols, class A, class B, class Start, class Out>
constexpr void overlapping_tiles(const Product<Rows, Inner, Cols, A, B, Start, Out>& product) noexcept {
  constexpr std::size_t vectors = overlapping_vectors<Port, Cols>;
  constexpr std::size_t height = even_tile_rows<Port, vectors, Rows>;
  const std::size_t rows = product.rows;
  if (is_at_least<height, Rows> || rows >= height) {
    for_each_overlapping<height>(rows, [&](std::size_t i) TINYATTN_INLINE_LAMBDA { overlapping_rows<Port, height, vectors>(product, i); });
  } else if constexpr (std::is_same_v<Rows, std::size_t>) {
    for (std::size_t i = 0; i < rows; ++i) overlapping_rows<Port, 1, vectors>(product, i);
  }
}

// One copy in flash for products of every shape.
template <class Port, class Product>
[[gnu::noinline]] constexpr void matmul_of_any_shape(const Product& product) noexcept {
  overlapping_tiles<Port>(product);
}

// A product of one shape: compiled for it, and inlined if it is small.
template <class Rows, class Cols>
inline constexpr bool is_small = false;
template <std::size_t Rows, std::size_t Cols>
inline constexpr bool is_small<Extent<Rows>, Extent<Cols>> = (Rows * Cols <= 64);

template <class Rows, class Inner, class Cols>
inline constexpr bool is_tiny = false;
template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
inline constexpr bool is_tiny<Extent<Rows>, Extent<Inner>, Extent<Cols>> = (Rows * Inner * Cols <= 512);
template <class Rows, class Visible, class Cols>
requires requires(const Visible& visible) { visible.keys(); }
inline constexpr bool is_tiny<Rows, Visible, Cols> = is_tiny<Rows, decltype(std::declval<Visible>().keys()), Cols>;

// Columns beyond whole tiles that a tile of their own takes: one or two, if a copy for them is worth its flash.
template <std::size_t Rest>
struct TilesAndRest {
  std::size_t value;
  constexpr operator std::size_t() const noexcept { return value; }
  static constexpr Extent<Rest> rest() noexcept { return {}; }
};

template <class Port, std::size_t Width, class Cols>
struct AnyCols {
  using type = any_size<Width, Cols>;
};
template <class Port, std::size_t Width, std::size_t Cols>
struct AnyCols<Port, Width, Extent<Cols>> {
  static constexpr std::size_t rest = Cols % Width;
  static constexpr bool has_tile = Port::lanes == 1 && unrolled_steps<Port, std::size_t> > 1 && (rest == 1 || rest == 2);
  using several = std::conditional_t<has_tile, TilesAndRest<rest>, AtLeast<Width>>;
  using type = std::conditional_t<(Cols < Width), Extent<Cols>, several>;
};

// The rows of b in a product of any shape. Where the way to the next one is part of an instruction it is worth a copy for each stride.
template <class Port>
constexpr auto rows_of_b(const auto& b) noexcept {
  if constexpr (port::steps_rows<Port>)
    return b;
  else
    return of_any_shape(b);
}

// Where flash is dear, products share a copy.
template <class Port, class Rows, class Inner, class Cols, class A, class B, class Start, class Out>
constexpr void matmul_out_of_line(const Product<Rows, Inner, Cols, A, B, Start, Out>& product) noexcept {
  if constexpr (Port::shares_code) {
    constexpr std::size_t width = Port::tile_vectors * Port::lanes;
    using Columns = typename AnyCols<Port, width, Cols>::type;
    using AnyRows = any_size<even_tile_rows<Port, overlapping_vectors<Port, Columns>, Rows>, Rows>;
    matmul_of_any_shape<Port>(kernel::Product{AnyRows{product.rows}, any_size<1, Inner>{product.inner}, Columns{product.cols},
                                              of_any_shape(read_only(product.a)), rows_of_b<Port>(read_only(product.b)),
                                              of_any_shape<width>(product.start), of_any_shape(product.out)});
  } else {
    matmul_tiles<narrowed<Port, Cols>>(product, product.cols);
  }
}

// Small ones are compiled into the place that needs them.
template <class Port, class Rows, class Inner, class Cols, class A, class B, class Start, class Out>
TINYATTN_ALWAYS_INLINE constexpr void matmul(const Product<Rows, Inner, Cols, A, B, Start, Out>& product) noexcept {
  if constexpr (Port::shares_code ? is_tiny<Rows, Inner, Cols> : is_small<Rows, Cols>)
    matmul_tiles<narrowed<Port, Cols>>(product, product.cols);
  else
    matmul_out_of_line<Port>(product);
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
