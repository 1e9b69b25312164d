// SPDX-License-Identifier: MIT
//
// A tile of a matrix product, in registers. Every output element is one chain of fused multiply-adds that takes
// the inner index in rising order, so neither the tile nor the width of the vector shows in a bit.
#pragma once

#include "tinyattn/kernel/operand.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// out[i][j] = start[j] + the sum over k of a[i][k] * b[k][j], k rising, each step one fma.
//
//   a      [rows, inner]   RowMajor
//   b      [inner, cols]   RowMajor or ColumnMajor
//   start  [cols]          Zero, Bias or MaybeBias
//   out    [rows, cols]    RowMajor; overwritten; may not overlap a or b
//
// Extents are Extents or numbers; `inner` may also be what queries see of keys, row by row: a key that is not seen is skipped.
// NaN and infinity go through as in the plain loop.
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

// How many steps of k a tile takes at a time: one, but for ports that say how many, which is at most two. Of a number that the compiler
// knows these take all, if there are a few, or two, if it is even.
template <class Port, class Inner>
inline constexpr std::size_t unrolled_steps = 1;
template <class Port, class Inner>
requires(Port::tile_steps > 0) inline constexpr std::size_t unrolled_steps<Port, Inner> = Port::tile_steps;
template <class Port, std::size_t Inner>
requires(Port::tile_steps > 0) inline constexpr std::size_t unrolled_steps<Port, Extent<Inner>> = Inner <= 4 ? Inner : 2 - Inner % 2;

// Rows of a tile that the port keeps in neighbouring registers.
template <class Port, std::size_t Vectors, std::size_t Rows>
inline constexpr bool has_neighbours = requires(const float* from, typename Port::vec (&row)[Vectors]) {
  Port::template load_tile_row<Rows - 1>(from, row);
};

// Rows x Vectors vectors of the output, in registers. The tile has `cols` columns, of which the last vector
// may fill some lanes only; its corner stands at row i and column j.
template <class Port, std::size_t Rows, std::size_t Vectors, class Cols>
struct Tile {
  std::size_t i;
  std::size_t j;
  Cols cols;
  typename Port::vec sums[Rows][Vectors];

  TINYATTN_ALWAYS_INLINE constexpr void start(const auto& product) noexcept {
    if constexpr (has_neighbours<Port, Vectors, Rows> && requires { product.start.at(j); })
      load_rows(product.start.at(j), std::make_index_sequence<Rows>{});
    else
      load_first_row(product);
  }

  TINYATTN_ALWAYS_INLINE constexpr void load_first_row(const auto& product) noexcept {
    product.start.template load_row<Port>(j, sums[0], cols);
    TINYATTN_UNROLL
    for (std::size_t r = 1; r < Rows; ++r) {
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = sums[0][v];
    }
  }

  // sums[r][v] += a[i + r][k] * b[k][j + v] for every k.
  TINYATTN_ALWAYS_INLINE constexpr void multiply_add(const auto& product) noexcept {
    if constexpr (requires { product.inner.keys(); }) {
      const std::size_t common = product.inner.common(i, Rows);
      multiply_add(product, common);
      multiply_add_seen(product, common);
    } else {
      multiply_add(product, product.inner);
    }
  }

  // The same for every k below `inner`.
  template <class Inner>
  TINYATTN_ALWAYS_INLINE constexpr void multiply_add(const auto& product, Inner inner) noexcept {
    auto factors = product.a.template walk<Port, Rows>(i);
    const auto b = product.b;
    const auto first = b.at(0, j);
    std::size_t offset = 0;
    std::size_t left = inner;
    if constexpr (port::factors_by_lane<Port>) {
      for (std::size_t several = left / Port::factor_steps; several != 0; --several, offset += Port::factor_steps * b.row_step())
        add_rows(b, first + offset, factors, std::make_index_sequence<Port::factor_steps>{});
      left %= Port::factor_steps;
    }
    const auto step = [&]() TINYATTN_INLINE_LAMBDA {
      add_row(b, first + offset, [&](std::size_t r) TINYATTN_INLINE_LAMBDA { return Port::broadcast(factors.template next<Port>(r)); });
      offset += b.row_step();
      factors.step();
    };
    constexpr std::size_t steps = unrolled_steps<Port, Inner>;
    if (left % steps != 0) step();
    left /= steps;
    if constexpr (!is_at_least<steps, Inner> || port::factors_by_lane<Port>)
      if (left == 0) return;
    if constexpr (steps == 2 && port::factors_in_pairs<Port>) {
      const float* element = first + offset;
      do add_two_rows(b, element, factors);
      while (--left != 0);
    } else {
      do {
        TINYATTN_UNROLL
        for (std::size_t s = 0; s < steps; ++s) step();
      } while (--left != 0);
    }
  }

  // The same for every k from `inner` on that query i + r sees.
  TINYATTN_ALWAYS_INLINE constexpr void multiply_add_seen(const auto& product, std::size_t inner) noexcept {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const std::size_t end = product.inner.end(i + r, 1);
      for (std::size_t k = inner; k < end; ++k) {
        if constexpr (std::remove_cvref_t<decltype(product.inner)>::has_holes)
          if (!product.inner.sees(i + r, k)) continue;
        const auto factor = Port::broadcast(*product.a.at(i + r, k));
        typename Port::vec row[Vectors];
        product.b.template load_row<Port>(product.b.at(k, j), row, cols);
        TINYATTN_UNROLL
        for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Port::fma(factor, row[v], sums[r][v]);
      }
    }
  }

  TINYATTN_ALWAYS_INLINE constexpr void finish(const auto& product) const noexcept {
    float* row = product.out.at(i, j);
    if constexpr (has_neighbours<Port, Vectors, Rows>) {
      store_rows(row, product.out.row_step(), std::make_index_sequence<Rows>{});
    } else {
      store_row<Port>(row, sums[0], cols);
      TINYATTN_UNROLL
      for (std::size_t r = 1; r < Rows; ++r) store_row<Port>(row += product.out.row_step(), sums[r], cols);
    }
  }

 private:
  template <std::size_t... Row>
  TINYATTN_ALWAYS_INLINE constexpr void load_rows(const float* from, std::index_sequence<Row...>) noexcept {
    (Port::template load_tile_row<Row>(from, sums[Row]), ...);
  }
  template <std::size_t... Row>
  TINYATTN_ALWAYS_INLINE constexpr void store_rows(float* to, std::size_t step, std::index_sequence<Row...>) const noexcept {
    (Port::template store_tile_row<Row>(sums[Row], to + Row * step), ...);
  }

  // One step of k: a row of b, times a factor for each row of the tile.
  TINYATTN_ALWAYS_INLINE constexpr void add_row(const typename Port::vec (&row)[Vectors], auto factor_of) noexcept {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto factor = factor_of(r);
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Port::fma(factor, row[v], sums[r][v]);
    }
  }
  TINYATTN_ALWAYS_INLINE constexpr void add_row(const auto& b, const float* element, auto factor_of) noexcept {
    typename Port::vec row[Vectors];
    b.template load_row<Port>(element, row, cols);
    add_row(row, factor_of);
  }

  // Two steps of k, whose factors one instruction loads for each row of the tile; `element` moves on.
  TINYATTN_ALWAYS_INLINE constexpr void add_two_rows(const auto& b, const float*& element, auto& factors) noexcept {
    float two[Rows][2];
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) factors.template next_two<Port>(r, two[r]);
    TINYATTN_UNROLL
    for (std::size_t s = 0; s < 2; ++s) {
      typename Port::vec row[Vectors];
      b.template load_next_row<Port>(element, row, cols);
      add_row(row, [&](std::size_t r) TINYATTN_INLINE_LAMBDA { return Port::broadcast(two[r][s]); });
    }
    factors.step(2);
  }

  // Several steps of k, whose factors lie in the lanes of one register for each row of the tile.
  template <std::size_t... Step>
  TINYATTN_ALWAYS_INLINE constexpr void add_rows(const auto& b, const float* element, auto& factors,
                                                 std::index_sequence<Step...>) noexcept {
    typename Port::factors lanes[Rows];
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) lanes[r] = Port::load_factors(factors.next(r, sizeof...(Step)));
    (add_row(b, element + Step * b.row_step(), [&](std::size_t r) TINYATTN_INLINE_LAMBDA { return Port::template lane<Step>(lanes[r]); }),
     ...);
    factors.step(sizeof...(Step));
  }
};

template <class Port, std::size_t Rows, std::size_t Vectors, class Cols>
TINYATTN_ALWAYS_INLINE constexpr void inline_tile(const auto& product, std::size_t i, std::size_t j, Cols cols) noexcept {
  Tile<Port, Rows, Vectors, Cols> tile;
  tile.i = i;
  tile.j = j;
  tile.cols = cols;
  tile.start(product);
  tile.multiply_add(product);
  tile.finish(product);
}

template <class Port, std::size_t Rows, std::size_t Vectors, class Cols>
constexpr void matmul_tile(const auto& product, std::size_t i, std::size_t j, Cols cols) noexcept {
  inline_tile<Port, Rows, Vectors>(product, i, j, cols);
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
