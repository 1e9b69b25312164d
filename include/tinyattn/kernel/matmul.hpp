// SPDX-License-Identifier: MIT
//
// Matrix products in register tiles. Every output element is one chain of fused multiply-adds that takes
// the inner index in rising order, so neither the tile nor the width of the vector shows in a bit.
#pragma once

#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/kernel/visible.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn::inline TINYATTN_PORT::kernel {

// Rows x Vectors vectors of the output, in registers: its corner stands at row i and column j, and it has
// `cols` columns, of which the last vector may fill some lanes only.
template <class Port, std::size_t Rows, std::size_t Vectors, class Cols>
struct Tile {
  std::size_t i;
  std::size_t j;
  Cols cols;
  typename Port::vec sums[Rows][Vectors];

  // The lanes of vector v that are in use: all of them, said by the type, if the tile is full.
  TINYATTN_ALWAYS_INLINE constexpr auto width(std::size_t v) const noexcept {
    if constexpr (std::is_same_v<Cols, Extent<Vectors * Port::lanes>>)
      return Extent<Port::lanes>{};
    else
      return smaller(Port::lanes, cols - v * Port::lanes);
  }

  TINYATTN_ALWAYS_INLINE constexpr void start(const auto& start) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) {
      const auto first = start.template load<Port>(j + v * Port::lanes, width(v));
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) sums[r][v] = first;
    }
  }

  // Adds a[i + r][k] * b[k][j + v] to the sums of the rows for which `takes_part(r)` holds.
  TINYATTN_ALWAYS_INLINE constexpr void multiply_add(std::size_t k, const auto& a, const auto& b, auto takes_part) noexcept {
    typename Port::vec row[Vectors];
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = b.template load<Port>(k, j + v * Port::lanes, width(v));
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      if (!takes_part(r)) continue;
      const auto factor = Port::broadcast(*a.at(i + r, k));
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Port::fma(factor, row[v], sums[r][v]);
    }
  }

  TINYATTN_ALWAYS_INLINE constexpr void finish(const auto& out) const noexcept {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v) out.template store<Port>(i + r, j + v * Port::lanes, sums[r][v], width(v));
    }
  }
};

template <class Port, std::size_t Rows, std::size_t Vectors>
constexpr void matmul_tile(std::size_t i, std::size_t j, auto cols, const auto& a, const auto& b, const auto& start, const auto& out,
                           const auto& visible) noexcept {
  Tile<Port, Rows, Vectors, decltype(cols)> tile;
  tile.i = i;
  tile.j = j;
  tile.cols = cols;
  tile.start(start);
  const auto common = visible.common(i, Rows);
  const auto end = visible.end(i, Rows);
  for (std::size_t k = 0; k < common; ++k) tile.multiply_add(k, a, b, [](std::size_t) { return true; });
  for (std::size_t k = common; k < end; ++k) tile.multiply_add(k, a, b, [&](std::size_t r) { return visible.sees(i + r, k); });
  tile.finish(out);
}

// The widest tile for `cols` columns, or for a number of them that is known at run time.
template <class Port, class Cols>
inline constexpr std::size_t tile_vectors = Port::tile_vectors;
template <class Port, std::size_t Cols>
inline constexpr std::size_t tile_vectors<Port, Extent<Cols>> = smaller(Port::tile_vectors, (Cols + Port::lanes - 1) / Port::lanes);

// The height that leaves a quarter of the registers for a row of b and for the factors.
template <class Port, std::size_t Vectors, class Rows>
inline constexpr std::size_t tile_rows = smaller(16, Port::registers * 3 / 4 / Vectors);
template <class Port, std::size_t Vectors, std::size_t Rows>
inline constexpr std::size_t tile_rows<Port, Vectors, Extent<Rows>> = smaller(Rows, tile_rows<Port, Vectors, std::size_t>);

// What is left of the columns from j on, beside the tiles of full width.
template <class Port, std::size_t Rows, std::size_t Vectors>
constexpr void matmul_rest(std::size_t i, std::size_t j, std::size_t cols, const auto& a, const auto& b, const auto& start, const auto& out,
                           const auto& visible) noexcept {
  for (; j + Port::lanes <= cols; j += Port::lanes) matmul_tile<Port, Rows, 1>(i, j, Extent<Port::lanes>{}, a, b, start, out, visible);
  if constexpr (Port::lanes > 1)
    if (j < cols) matmul_tile<Port, Rows, 1>(i, j, cols - j, a, b, start, out, visible);
}

template <class Port, std::size_t Rows, std::size_t Vectors, std::size_t Cols>
constexpr void matmul_rest(std::size_t i, std::size_t j, Extent<Cols>, const auto& a, const auto& b, const auto& start, const auto& out,
                           const auto& visible) noexcept {
  constexpr std::size_t rest = Cols % (Vectors * Port::lanes);
  if constexpr (rest != 0) matmul_tile<Port, Rows, (rest + Port::lanes - 1) / Port::lanes>(i, j, Extent<rest>{}, a, b, start, out, visible);
}

// The tiles of `Rows` rows from row i on, from left to right.
template <class Port, std::size_t Rows, std::size_t Vectors, class Cols>
constexpr void matmul_rows(std::size_t i, Cols cols, const auto& a, const auto& b, const auto& start, const auto& out,
                           const auto& visible) noexcept {
  constexpr Extent<Vectors * Port::lanes> width;
  std::size_t j = 0;
  for (; j + width <= cols; j += width) matmul_tile<Port, Rows, Vectors>(i, j, width, a, b, start, out, visible);
  matmul_rest<Port, Rows, Vectors>(i, j, cols, a, b, start, out, visible);
}

// out[i][j] = start[j] + the sum over the visible k of a[i][k] * b[k][j], k rising, each step one fma.
//
//   a      [rows, inner]
//   b      [inner, cols]
//   start  [cols]        Zero or Bias
//   out    [rows, cols]  overwritten; may not overlap a or b
//   visible              SeesAll of the inner extent, or what a mask leaves of it
//
// NaN and infinity go through as in the plain loop. No scratch.
template <class Port, class Rows, class Cols>
constexpr void matmul(Rows rows, Cols cols, const auto& a, const auto& b, const auto& start, const auto& out,
                      const auto& visible) noexcept {
  constexpr std::size_t vectors = tile_vectors<Port, Cols>;
  constexpr std::size_t height = tile_rows<Port, vectors, Rows>;
  std::size_t i = 0;
  for (; i + height <= rows; i += height) matmul_rows<Port, height, vectors>(i, cols, a, b, start, out, visible);
  if constexpr (std::is_same_v<Rows, std::size_t>)
    for (; i < rows; ++i) matmul_rows<Port, 1, vectors>(i, cols, a, b, start, out, visible);
  else if constexpr (Rows{} % height != 0)
    matmul_rows<Port, Rows{} % height, vectors>(i, cols, a, b, start, out, visible);
}

}  // namespace tinyattn::inline TINYATTN_PORT::kernel
