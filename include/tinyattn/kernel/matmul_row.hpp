// SPDX-License-Identifier: MIT
//
// Products of one row, which a token of a language model is made of: every weight is read once. In
// flash once for each port, and only in a program that calls them.
#pragma once

#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/transpose.hpp"

#include <bit>
#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Whether the port has a tile of one row and `Vectors` vectors.
template <class Port, std::size_t Vectors>
inline constexpr bool has_row_tile = requires(const float* from, float* to) {
  requires Vectors != 0;
  Port::template row_tile<Vectors>(from, from, from, 0, to, 0);
};

// The initial sums of `Width` columns, as a port's own kernels take them: zeros in memory where
// there are none.
template <std::size_t Width>
TINYATTN_ALWAYS_INLINE constexpr const float* initial_in_memory(const Product& p,
                                                                std::size_t j) noexcept {
  return is_null(p.initial) ? zeros<Width> : p.initial + j;
}

template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void row_tile(const Product& p, std::size_t j) noexcept {
  Port::template row_tile<Vectors>(initial_in_memory<Vectors * Port::lanes>(p, j), p.a.data,
                                   p.b.at(0, j), p.b.stride, p.out.data + j, p.inner);
}

// The row from column j on: in tiles of `Vectors` vectors, then in narrower ones. The last of the
// narrowest overlaps its neighbour.
template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void cover_row_with_overlap(const Product& p,
                                                             std::size_t j) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes, narrower = std::bit_floor(Vectors - 1);
  for (; p.cols - j >= width; j += width) row_tile<Port, Vectors>(p, j);
  if (j == p.cols) return;
  if constexpr (has_row_tile<Port, narrower>)
    cover_row_with_overlap<Port, narrower>(p, j);
  else if (p.cols >= width)
    row_tile<Port, Vectors>(p, p.cols - width);
  else
    cover_row<Port, 1>(p, 0);
}

// One tile of `vectors` vectors from column j on, at most `Most`.
template <class Port, std::size_t Most>
TINYATTN_ALWAYS_INLINE constexpr void wide_tile(const Product& p, std::size_t j,
                                                std::size_t vectors) noexcept {
  if constexpr (Most > 1)
    if (vectors < Most) return wide_tile<Port, Most - 1>(p, j, vectors);
  tile<Port, 1, Most, TileKind{false}>(
      initial_of<Port, Most * Port::lanes>(p, j), p.a, p.b.from(0, j), p.out.from(0, j), p.inner,
      minimum(Most * Port::lanes, p.cols - j) - (Most - 1) * Port::lanes);
}

// The whole row in as few tiles as there are registers for, of nearly one width: each reads b from
// one end to the other, and a narrow one would take as many steps.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void cover_row_evenly(const Product& p) noexcept {
  constexpr std::size_t most = 12;
  const std::size_t vectors = padded<Port>(p.cols) / Port::lanes,
                    tiles = (vectors + most - 1) / most;
  std::size_t left = vectors, j = 0;
  for (std::size_t t = tiles; t != 0; --t) {
    const std::size_t width = (left + t - 1) / t;
    wide_tile<Port, most>(p, j, width);
    j += width * Port::lanes;
    left -= width;
  }
}

// Where an fma is a function of integers: out += a[k] * row k of b, one after the other, so that
// each factor is taken apart once. Column j of row k lies at b[k * next_row + j * next].
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void add_multiples(const Product& p, std::size_t next_row,
                                                    std::size_t next) noexcept {
  for (std::size_t j = 0; j < p.cols; ++j) p.out.data[j] = is_null(p.initial) ? 0.0f : p.initial[j];
  for (std::size_t k = 0; k < p.inner; ++k)
    Port::add_multiple(p.a.data[k], p.b.data + k * next_row, next, p.out.data, p.cols);
}

template <class Port>
concept adds_multiples = requires(const float* from, float* to) {
  Port::add_multiple(0.0f, from, 1, to, 1);
};

// out = initial + a . b for a product of one row; `initial` may not be `out`.
template <class Port>
[[gnu::noinline]] constexpr void matmul_row(const Product& p) noexcept {
  if constexpr (adds_multiples<Port>)
    add_multiples<Port>(p, p.b.stride, 1);
  else if constexpr (requires { Port::row_vectors; })
    cover_row_with_overlap<Port, Port::row_vectors>(p, 0);
  else if constexpr (Port::flash_is_dear)
    cover_row<Port, Port::tile_vectors>(p, 0);
  else if constexpr (Port::lanes >= 8)
    cover_row_evenly<Port>(p);
  else
    cover_columns<Port, std::bit_floor(Port::registers * 3 / 4), 1, false>(p, 0);
}

// --- Transposed: the chains of several columns side by side. ---

// sum[q] += a[k] * b[q][k] for `count` terms, or for as many as there are lanes if IsWhole: a
// square of b is transposed in registers.
template <class Port, bool IsWhole>
TINYATTN_ALWAYS_INLINE constexpr void add_square(typename Port::vec& sum, const float* a, Input b,
                                                 std::size_t count = Port::lanes) noexcept {
  typename Port::vec square[Port::lanes];
  load_transposed<Port, IsWhole>(b, count, square);
  TINYATTN_UNROLL
  for (std::size_t lane = 0; lane < Port::lanes; ++lane)
    if (IsWhole || lane < count) sum = Port::fma(Port::broadcast(a[lane]), square[lane], sum);
}

// `Vectors` vectors of columns from column j on: side by side, since each sum waits for its last
// term.
template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void columns_by_squares(const Product& p, std::size_t j) noexcept {
  typename Port::vec sums[1][Vectors];
  initialize_sums<Port, TileKind{}>(sums, initial_of<Port, Vectors * Port::lanes>(p, j),
                                    Port::lanes);
  const float* a = p.a.data;
  Input b = p.b.from(j, 0);
  const auto add_squares = [&]<bool IsWhole>(std::size_t count) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v)
      add_square<Port, IsWhole>(sums[0][v], a, b.from(v * Port::lanes, 0), count);
  };
  for (std::size_t left = p.inner / Port::lanes; left != 0; --left) {
    add_squares.template operator()<true>(Port::lanes);
    a += Port::lanes;
    b.data += Port::lanes;
  }
  if (const std::size_t rest = p.inner % Port::lanes; rest != 0)
    add_squares.template operator()<false>(rest);
  store_sums<Port, TileKind{}>(sums, {p.out.data + j, 0}, Port::lanes);
}

// All columns, `width` at a time by columns_from(j); the last of them overlap their neighbours.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void cover_transposed_row(const Product& p, std::size_t width,
                                                           const auto& columns_from) noexcept {
  if (p.cols < width) return cover_row<Port, 1, true>(p, 0);
  for (std::size_t j = 0;; j = next_part(j, width, p.cols)) {
    columns_from(j);
    if (j + width == p.cols) return;
  }
}

template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void cover_by_squares(const Product& p) noexcept {
  cover_transposed_row<Port>(p, Vectors * Port::lanes, [&](std::size_t j) TINYATTN_INLINE_LAMBDA {
    columns_by_squares<Port, Vectors>(p, j);
  });
}

// Whether a square of b can be transposed in registers.
template <class Port>
concept has_squares = requires(typename Port::vec v) {
  Port::interleave(v, v, v, v);
};

// out = initial + a . b transposed for a product of one row; `initial` may not be `out`.
template <class Port>
[[gnu::noinline]] constexpr void matmul_transposed_row(const Product& p) noexcept {
  if constexpr (adds_multiples<Port>) {
    add_multiples<Port>(p, 1, p.b.stride);
  } else if constexpr (requires { Port::dot_products; }) {
    if constexpr (has_squares<Port>)
      if (p.cols < Port::dot_products) return cover_by_squares<Port, 1>(p);
    cover_transposed_row<Port>(p, Port::dot_products, [&](std::size_t j) TINYATTN_INLINE_LAMBDA {
      Port::dots(initial_in_memory<Port::dot_products>(p, j), p.a.data, p.b.at(j, 0), p.b.stride,
                 p.out.data + j, p.inner);
    });
  } else if constexpr (has_squares<Port>) {
    p.cols < 2 * Port::lanes ? cover_by_squares<Port, 1>(p) : cover_by_squares<Port, 2>(p);
  } else {
    matmul_transposed<Port>(p);
  }
}

// out = initial + a . b for any number of rows: one, or as matmul takes them.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void matmul_rows(const Product& p) noexcept {
  if (p.rows == 1)
    matmul_row<Port>(p);
  else
    matmul<Port>(p);
}

// --- Products whose shape is known: of one row, or of several. ---

// Whether a row is compiled for its shape: not where flash is dear, nor where tiles are narrow,
// but for a row of a few vectors.
template <class Port>
consteval bool is_specialized_row(Shape shape) noexcept {
  const bool is_short = shape.inner * shape.cols <= 512;
  return !Port::flash_is_dear && is_specialized<Port>(shape) &&
         (is_short || Port::tile_vectors * Port::lanes >= 64);
}
template <class Port, Shape shape>
TINYATTN_ALWAYS_INLINE constexpr void matmul_of_shape(const Product& p) noexcept {
  if constexpr (shape.rows == 1 && !is_specialized_row<Port>(shape))
    matmul_row<Port>(p);
  else
    matmul<Port, shape>(p);
}
template <class Port, Shape shape>
TINYATTN_ALWAYS_INLINE constexpr void matmul_transposed_of_shape(const Product& p) noexcept {
  if constexpr (shape.rows == 1)
    matmul_transposed_row<Port>(p);
  else
    matmul_transposed<Port>(p);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
