// SPDX-License-Identifier: MIT
//
// Matrix products, covered by register tiles. A product of any shape is in flash once for each
// port; one that is tiny is compiled for its shape.
#pragma once

#include "tinyattn/kernel/tile.hpp"

#include <bit>
#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The height of a tile: that of the port's own, or so that a quarter of the registers is left for a
// row of b and for the factors.
template <class Port, std::size_t Vectors>
inline constexpr std::size_t tile_rows = [] {
  if constexpr (requires { Port::tile_height; })
    if (Vectors == Port::tile_vectors) return Port::tile_height;
  return minimum(16, Port::registers * 3 / 4 / Vectors);
}();

// The initial sums of `Width` columns from column j on. A product without `initial` has zeros in
// memory where flash is dear; else nullptr, and the tile clears its registers.
template <class Port, std::size_t Width>
TINYATTN_ALWAYS_INLINE constexpr const float* initial_of(const Product& p, std::size_t j) noexcept {
  const float* const none = Port::flash_is_dear ? zeros<Width> : nullptr;
  return is_null(p.initial) ? none : p.initial + j;
}

// --- Panels: for machines with caches. Tiles of several sizes cover the product exactly. ---

// The next lower tile: of a power of two. Below six rows it has five where vectors are wide. The
// sums of four rows are too few to hide the latency of two fma in a cycle if a tile has two
// vectors; if it has four, GCC loads b again for each of these rows, which takes longer than their
// fma.
template <class Port, std::size_t Height>
inline constexpr std::size_t lower_height = Height == 6 && Port::lanes >= 8
                                                ? 5
                                                : std::bit_floor(Height - 1);

// The tiles of a panel from row i on downwards: of `Height` rows, while they need fewer tiles than
// the next lower height would; the rows left in tiles of that height, and so on down to one row.
template <class Port, std::size_t Vectors, TileKind kind, std::size_t Height>
TINYATTN_ALWAYS_INLINE constexpr void tiles_downwards(const Product& p, Input a, std::size_t i,
                                                      std::size_t j, std::size_t last) noexcept {
  constexpr std::size_t lower = lower_height<Port, Height>;
  for (; p.rows - i >= Height; i += Height) {
    const std::size_t tiles = (p.rows - i + Height - 1) / Height;
    if (p.rows - i <= tiles * lower) break;
    tile<Port, Height, Vectors, kind>(initial_of<Port, Vectors * Port::lanes>(p, j), a,
                                      kind.is_transposed ? p.b.from(j, 0) : p.b.from(0, j),
                                      p.out.from(i, j), p.inner, last);
    a = a.from(Height, 0);
  }
  if constexpr (Height > 1) tiles_downwards<Port, Vectors, kind, lower>(p, a, i, j, last);
}

// The panels of columns `begin` to `end`, all of one width: so a panel of b stays in cache while
// the tiles go down. `last` columns fill the last vector of each.
template <class Port, std::size_t Vectors, TileKind kind, std::size_t Height>
[[gnu::noinline]] constexpr void panels(const Product& p, std::size_t begin, std::size_t end,
                                        std::size_t last) noexcept {
  for (std::size_t j = begin; j < end; j += Vectors * Port::lanes)
    tiles_downwards<Port, Vectors, kind, Height>(p, p.a, 0, j, last);
}

// The columns from column j on: in panels of `Vectors` vectors, then of the next lower power of
// two, down to one and a part of one.
template <class Port, std::size_t Vectors, std::size_t MostRows, bool Transposed>
TINYATTN_ALWAYS_INLINE constexpr void cover_columns(const Product& p, std::size_t j) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes,
                        height = minimum(MostRows, tile_rows<Port, Vectors>);
  const std::size_t end = p.cols - (p.cols - j) % width;
  if (j != end) panels<Port, Vectors, TileKind{true, Transposed}, height>(p, j, end, Port::lanes);
  if constexpr (Vectors > 1)
    cover_columns<Port, std::bit_floor(Vectors - 1), MostRows, Transposed>(p, end);
  else if (end != p.cols)
    panels<Port, 1, TileKind{false, Transposed}, height>(p, end, p.cols, p.cols - end);
}

// --- Overlapping tiles: where flash is dear. All are of one size; the last in each direction
// overlaps its neighbour. What is computed twice comes to the same bits. ---

// Where the part behind the one at `first` starts; the last is moved back to end at `count`.
TINYATTN_ALWAYS_INLINE constexpr std::size_t next_part(std::size_t first, std::size_t size,
                                                       std::size_t count) noexcept {
  return minimum(first + size, count - size);
}

template <class Port, std::size_t Height>
[[gnu::noinline]] constexpr void overlapping_tiles(const Product& p) noexcept {
  constexpr std::size_t width = Port::tile_vectors * Port::lanes;
  for (std::size_t i = 0;; i = next_part(i, Height, p.rows)) {
    const Input a = p.a.from(i, 0);
    const Output out = p.out.from(i, 0);
    for (std::size_t j = 0;; j = next_part(j, width, p.cols)) {
      // Not initial_of: with a call, GCC 12 may find no registers for Helium's tile.
      const float* const initial = p.initial == nullptr ? zeros<width> : p.initial + j;
      tile<Port, Height, Port::tile_vectors>(initial, a, p.b.from(0, j), out.from(0, j), p.inner);
      if (j + width == p.cols) break;
    }
    if (i + Height == p.rows) break;
  }
}

// `count` tiles of one row and `Vectors` vectors, side by side from column j on. Returns the
// column behind them.
template <class Port, std::size_t Vectors, TileKind kind>
TINYATTN_ALWAYS_INLINE constexpr std::size_t tiles_along(const Product& p, std::size_t i,
                                                         std::size_t j,
                                                         std::size_t count) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes;
  for (; count != 0; --count, j += width)
    tile<Port, 1, Vectors, kind>(initial_of<Port, width>(p, j), p.a.from(i, 0),
                                 kind.is_transposed ? p.b.from(j, 0) : p.b.from(0, j),
                                 p.out.from(i, j), p.inner, minimum(Port::lanes, p.cols - j));
  return j;
}

// Row i, without overlap: in tiles of `Vectors` vectors, and what is left in single ones.
template <class Port, std::size_t Vectors, bool Transposed = false>
TINYATTN_ALWAYS_INLINE constexpr void cover_row(const Product& p, std::size_t i) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes;
  std::size_t j = 0, left = p.cols;
  if constexpr (Vectors > 1) {
    j = tiles_along<Port, Vectors, TileKind{}>(p, i, j, left / width);
    left %= width;
  }
  tiles_along<Port, 1, TileKind{Port::lanes == 1, Transposed}>(p, i, j,
                                                               padded<Port>(left) / Port::lanes);
}

// A product that is lower or narrower than a tile, or transposed, or whose port has tiles of one
// row.
template <class Port, bool Transposed>
[[gnu::noinline]] constexpr void single_rows(const Product& p) noexcept {
  for (std::size_t i = 0; i < p.rows; ++i)
    cover_row<Port, Transposed ? 1 : Port::tile_vectors, Transposed>(p, i);
}

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void cover_with_overlap(const Product& p) noexcept {
  constexpr std::size_t height = tile_rows<Port, Port::tile_vectors>;
  if (height == 1 || p.rows < height || p.cols < Port::tile_vectors * Port::lanes)
    single_rows<Port, false>(p);
  else
    overlapping_tiles<Port, height>(p);
}

// --- Tiny products: compiled for their shape, into the place that needs them ---

// 0 where a size is not known. `inner` may be unknown in a tiny product too.
struct Shape {
  std::size_t rows = 0, inner = 0, cols = 0;
};

// Where an fma is a function call, code for each shape gains little: such a port has tiles of one
// row.
template <class Port>
inline constexpr bool specializes_shapes = tile_rows<Port, Port::tile_vectors> > 1;

// Whether a product is compiled for its shape: of up to 512 multiply-adds, or up to 32,768 (that is
// 32³) where flash is not dear.
template <class Port>
consteval bool is_specialized(Shape shape) noexcept {
  const std::size_t most = Port::flash_is_dear ? 512 : 32768;
  return specializes_shapes<Port> && shape.rows != 0 &&
         shape.rows * shape.inner * shape.cols <= most;
}

// `Vectors` vectors of all rows, from column j on; `last` columns fill the last.
template <class Port, Shape shape, std::size_t Vectors, std::size_t last>
TINYATTN_ALWAYS_INLINE constexpr void tiny_columns(const Product& p, std::size_t j) noexcept {
  constexpr std::size_t unrolled = Port::registers > 16 ? 2 - shape.inner % 2 : 1;
  constexpr std::size_t steps = shape.inner == 0 ? 1 : shape.inner <= 4 ? shape.inner : unrolled;
  for_each_known_part<shape.rows, tile_rows<Port, Vectors>>(
      [&]<std::size_t height>(std::size_t i) TINYATTN_INLINE_LAMBDA {
        tile<Port, height, Vectors, TileKind{last == Port::lanes, false, steps}>(
            initial_of<Port, Vectors * Port::lanes>(p, j), p.a.from(i, 0), p.b.from(0, j),
            p.out.from(i, j), p.inner, last);
      });
}

template <class Port, Shape shape>
TINYATTN_ALWAYS_INLINE constexpr void specialized_matmul(const Product& p) noexcept {
  constexpr std::size_t width = Port::tile_vectors * Port::lanes, rest = shape.cols % width;
  for (std::size_t j = 0; j < shape.cols - rest; j += width)
    tiny_columns<Port, shape, Port::tile_vectors, Port::lanes>(p, j);
  if constexpr (rest != 0) {
    constexpr std::size_t vectors = padded<Port>(rest) / Port::lanes;
    tiny_columns<Port, shape, vectors, rest - (vectors - 1) * Port::lanes>(p, shape.cols - rest);
  }
}

// A product of one row, often of few terms: in line, since a call would take long. It continues
// from `initial`, which may be `out`, never nullptr.
template <class Port, std::size_t TinyCols>
TINYATTN_ALWAYS_INLINE constexpr void matmul_of_row(const Product& p) noexcept {
#if defined(__OPTIMIZE_SIZE__)
  constexpr std::size_t vectors = 1;
#else
  constexpr std::size_t vectors = Port::tile_vectors;
#endif
  if (is_null(p.initial)) __builtin_unreachable();
  if constexpr (TinyCols != 0)
    specialized_matmul<narrowed<Port, TinyCols>, Shape{1, 0, TinyCols}>(p);
  else
    cover_row<Port, vectors>(p, 0);
}

// --- Products: of any shape. `inner` may be 0, and `cols` too: a block may see no key ---

// out = initial + a . b
template <class Port, Shape shape = Shape{}>
TINYATTN_ALWAYS_INLINE constexpr void matmul(const Product& p) noexcept {
  if constexpr (is_specialized<Port>(shape))
    specialized_matmul<narrowed<Port, shape.cols>, shape>(p);
  else if constexpr (Port::flash_is_dear)
    cover_with_overlap<Port>(p);
  else if (p.rows == 1)  // one row leaves registers for more columns
    cover_columns<Port, std::bit_floor(Port::registers * 3 / 4), 1, false>(p, 0);
  else
    cover_columns<Port, Port::tile_vectors, 16, false>(p, 0);
}

// out = initial + a . b transposed
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void matmul_transposed(const Product& p) noexcept {
  if constexpr (Port::flash_is_dear)
    single_rows<Port, true>(p);
  else
    cover_columns<Port, 1, 16, true>(p, 0);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
