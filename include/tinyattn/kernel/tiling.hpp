// SPDX-License-Identifier: MIT
//
// How tiles cover a product of several rows: in panels, with overlap, or specialized for a constant
// shape. A product `p` is any Product; its code is in flash once for each port and kind of
// operands.
#pragma once

#include "tinyattn/kernel/tile.hpp"

#include <bit>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The height of a tile: that of the port's own tiles, or one that leaves a quarter of the registers
// for a row of b and for the broadcast elements of a.
template <class Port, std::size_t Vectors>
inline constexpr std::size_t tile_rows = [] {
  if constexpr (requires { Port::tile_height; })
    if (Vectors == Port::tile_vectors) return Port::tile_height;
  return minimum(16, Port::registers * 3 / 4 / Vectors);
}();

// --- Panels: for machines with caches. Tiles of several sizes cover the product exactly. ---

// Computes the tiles of a panel from row i on: tiles of `Height` rows, as long as the next lower
// height would need more of them; then tiles of that lower height, and so on down to one row. The
// lower height is a power of two, but five after six where vectors are wide. Four rows of two
// vectors have too few sums to hide the latency of two fma in a cycle; with four vectors, GCC loads
// b again for each of the four rows, which takes longer than their fma.
template <class Port, std::size_t Vectors, TileKind kind, std::size_t Height>
TINYATTN_KERNEL void tiles_downwards(const auto& p, auto a, std::size_t i, std::size_t j,
                                     std::size_t last) noexcept {
  constexpr std::size_t lower = Height == 6 && Port::lanes >= 8 ? 5 : std::bit_floor(Height - 1);
  for (; p.rows - i >= Height; i += Height) {
    const std::size_t tiles = (p.rows - i + Height - 1) / Height;
    if (p.rows - i <= tiles * lower) break;
    tile<Port, Height, Vectors, kind>(p, a, i, j, last);
    a = a.from(Height, 0);
  }
  if constexpr (Height > 1) tiles_downwards<Port, Vectors, kind, lower>(p, a, i, j, last);
}

// Computes the panels of columns `begin` to `end`, all of one width. A panel of b stays in cache
// while its tiles are computed from top to bottom. `last` columns fill the last vector of each.
template <class Port, std::size_t Vectors, TileKind kind, std::size_t Height>
[[gnu::noinline]] constexpr void panels(const auto& p, std::size_t begin, std::size_t end,
                                        std::size_t last) noexcept {
  for (std::size_t j = begin; j < end; j += Vectors * Port::lanes)
    tiles_downwards<Port, Vectors, kind, Height>(p, p.a, 0, j, last);
}

// Computes the columns from column j on: in panels of `Vectors` vectors, then of the next lower
// power of two, down to one vector and a part of one.
template <class Port, std::size_t Vectors, std::size_t MostRows>
TINYATTN_KERNEL void cover_columns(const auto& p, std::size_t j) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes,
                        height = minimum(MostRows, tile_rows<Port, Vectors>);
  const std::size_t end = p.cols - (p.cols - j) % width;
  if (j != end) panels<Port, Vectors, TileKind{}, height>(p, j, end, Port::lanes);
  if constexpr (Vectors > 1)
    cover_columns<Port, std::bit_floor(Vectors - 1), MostRows>(p, end);
  else if (end != p.cols)
    panels<Port, 1, TileKind{false}, height>(p, end, p.cols, p.cols - end);
}

// --- Overlapping tiles: where code is scarce. All are of one size; the last in each direction
// overlaps its neighbour. What is computed twice comes to the same bits. ---

// Returns where the tile after the one at `first` begins; the last one ends at `count`.
TINYATTN_KERNEL std::size_t next_tile(std::size_t first, std::size_t size,
                                      std::size_t count) noexcept {
  return minimum(first + size, count - size);
}

template <class Port, std::size_t Height>
[[gnu::noinline]] constexpr void overlapping_tiles(const auto& p) noexcept {
  constexpr std::size_t width = Port::tile_vectors * Port::lanes;
  for (std::size_t i = 0;; i = next_tile(i, Height, p.rows)) {
    for (std::size_t j = 0;; j = next_tile(j, width, p.cols)) {
      tile<Port, Height, Port::tile_vectors>(p, p.a.from(i, 0), i, j);
      if (j + width == p.cols) break;
    }
    if (i + Height == p.rows) break;
  }
}

// --- Products specialized for their shape, and inlined where they are called ---

// The sizes of a product, or 0 for those that are not constants. A specialized product may have a
// variable `inner`.
struct Shape {
  std::size_t rows = 0, inner = 0, cols = 0;
};

// Whether products are specialized. Where an fma is a function call, they gain little by it: such a
// port has tiles of one row.
template <class Port>
inline constexpr bool specializes_shapes = tile_rows<Port, Port::tile_vectors> > 1;

// Whether a product is compiled for its shape, of which rows and cols are constants: up to 512
// multiply-adds, or up to 32,768 (that is 32³) where code is not shared.
template <class Port>
consteval bool is_specialized(Shape shape) noexcept {
  const std::size_t most = Port::shares_code ? 512 : 32768;
  return specializes_shapes<Port> && shape.rows != 0 && shape.cols != 0 &&
         shape.rows * shape.inner * shape.cols <= most;
}

// Computes `Vectors` vectors of all rows, from column j on; `last` columns fill the last vector.
template <class Port, Shape shape, std::size_t Vectors, std::size_t last>
TINYATTN_KERNEL void specialized_columns(const auto& p, std::size_t j) noexcept {
  constexpr std::size_t unrolled = Port::registers > 16 ? 2 - shape.inner % 2 : 1;
  constexpr std::size_t steps = shape.inner == 0 ? 1 : shape.inner <= 4 ? shape.inner : unrolled;
  for_each_known_chunk<shape.rows, tile_rows<Port, Vectors>>(
      [&]<std::size_t height>(std::size_t i) TINYATTN_INLINE_LAMBDA {
        tile<Port, height, Vectors, TileKind{last == Port::lanes, steps}>(p, p.a.from(i, 0), i, j,
                                                                          last);
      });
}

template <class Port, Shape shape>
TINYATTN_KERNEL void specialized_matmul(const auto& p) noexcept {
  constexpr std::size_t width = Port::tile_vectors * Port::lanes, left = shape.cols % width;
  for (std::size_t j = 0; j < shape.cols - left; j += width)
    specialized_columns<Port, shape, Port::tile_vectors, Port::lanes>(p, j);
  if constexpr (left != 0) {
    constexpr std::size_t vectors = padded<Port>(left) / Port::lanes;
    specialized_columns<Port, shape, vectors, left - (vectors - 1) * Port::lanes>(
        p, shape.cols - left);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
