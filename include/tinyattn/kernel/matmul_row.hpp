// SPDX-License-Identifier: MIT
//
// Products of one row: most of the work of a language model for a token. Every weight is read once.
// Each port has one copy of this code in flash, if the program calls it.
#pragma once

#include "tinyattn/kernel/tiling.hpp"
#include "tinyattn/kernel/transpose.hpp"

#include <bit>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// --- In tiles ---

// The number of vectors of a tile of one row, next to others or alone.
template <class Port, class Right>
inline constexpr std::size_t row_width = is_transposed<Right> ? 1 : Port::tile_vectors;
template <class Port>
inline constexpr std::size_t most_row_vectors = std::bit_floor(Port::registers * 3 / 4);

// Computes row i in tiles of `Vectors` vectors, and what is left in tiles of one.
template <class Port, std::size_t Vectors>
TINYATTN_KERNEL void cover_row(const auto& p, std::size_t i) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes;
  std::size_t j = 0, rest = p.cols;
  if constexpr (Vectors > 1) {
    for (std::size_t left = p.cols / width; left != 0; --left, j += width)
      tile<Port, 1, Vectors>(p, p.a.from(i, 0), i, j);
    rest %= width;
  }
  for (std::size_t left = padded<Port>(rest) / Port::lanes; left != 0; --left) {
    tile<Port, 1, 1, TileKind{Port::lanes == 1}>(p, p.a.from(i, 0), i, j,
                                                 minimum(Port::lanes, p.cols - j));
    j += Port::lanes;
  }
}

// Computes the row in as few tiles as the registers allow, of nearly equal width. Each tile reads
// all rows of b, so that a narrow one takes as many steps as a wide one.
template <class Port, std::size_t... Fewer>
TINYATTN_KERNEL void cover_row_evenly(const auto& p, std::index_sequence<Fewer...>) noexcept {
  constexpr std::size_t most = sizeof...(Fewer);
  std::size_t left = padded<Port>(p.cols) / Port::lanes, j = 0;
  for (std::size_t tiles = (left + most - 1) / most; tiles != 0; --tiles) {
    const std::size_t vectors = (left + tiles - 1) / tiles, width = vectors * Port::lanes;
    const std::size_t last = minimum(width, p.cols - j) - (width - Port::lanes);
    static_cast<void>(((vectors == most - Fewer &&
                        (tile<Port, 1, most - Fewer, TileKind{false}>(p, p.a, 0, j, last), true)) ||
                       ...));
    j += width;
    left -= vectors;
  }
}

// --- By kernels of a port, which take plain floats ---

// Returns the bias of `Width` columns from column j on, or zeros in memory if there is none: ports
// take no nullptr.
template <std::size_t Width>
TINYATTN_KERNEL const float* bias_in_memory(const auto& p, std::size_t j) noexcept {
  return is_null(p.initial.data) ? zeros<Width> : p.initial.data + j;
}

// Whether the port has a tile of one row and `Vectors` vectors.
template <class Port, std::size_t Vectors>
inline constexpr bool has_row_tile = requires(const float* from, float* to) {
  requires Vectors != 0;
  Port::template row_tile<Vectors>(from, from, from, 0, to, 0);
};

// Computes the columns from column j on, in tiles of `Vectors` vectors, then in narrower ones. The
// last of the narrowest overlaps its neighbour.
template <class Port, std::size_t Vectors>
TINYATTN_KERNEL void cover_row_with_overlap(const auto& p, std::size_t j) noexcept {
  constexpr std::size_t width = Vectors * Port::lanes, narrower = std::bit_floor(Vectors - 1);
  for (; j != p.cols; j += width) {
    if (p.cols - j < width) {
      if constexpr (has_row_tile<Port, narrower>)
        return cover_row_with_overlap<Port, narrower>(p, j);
      else if (p.cols < width)
        return cover_row<Port, 1>(p, 0);
      j = p.cols - width;
    }
    Port::template row_tile<Vectors>(bias_in_memory<width>(p, j), p.a.data, p.b.at(0, j),
                                     p.b.stride, p.out.data + j, p.inner);
  }
}

// Whether the port adds multiples of a row: its fma is a function of integers, which unpacks each
// a[k] only once if out += a[k] * row k of b is computed for one k after the other.
template <class Port>
concept adds_multiples = requires(const float* from, float* to) {
  Port::add_multiple(0.0f, from, 1, to, 1);
};

// Whether such a product is computed by multiples, whatever its rows.
template <class Port, class AnyProduct>
inline constexpr bool is_of_multiples = false;
template <adds_multiples Port, class Initial>
inline constexpr bool is_of_multiples<Port, Product<Dense, Dense, Initial>> = true;
template <adds_multiples Port, class Initial>
inline constexpr bool is_of_multiples<Port, Product<Dense, Transposed<>, Initial>> = true;

// Whether the port has a kernel of its own for one row of such a product.
template <class Port, class AnyProduct>
inline constexpr bool has_row_kernel = std::same_as<AnyProduct, Product<>> &&
                                       (adds_multiples<Port> || requires { Port::row_vectors; });

// Computes all rows. Element (k, j) of b lies at b[k * next_row + j * next].
template <class Port>
TINYATTN_KERNEL void add_multiples(const auto& p, const float* b, std::size_t next_row,
                                   std::size_t next) noexcept {
  for (std::size_t i = 0; i < p.rows; ++i) {
    float* const out = p.out.at(i, 0);
    for (std::size_t j = 0; j < p.cols; ++j)
      out[j] = is_null(p.initial.data) ? 0.0f : *initial_at<Port, 1>(p, i, j).data;
    for (std::size_t k = 0; k < p.inner; ++k)
      Port::add_multiple(*p.a.at(i, k), b + k * next_row, next, out, p.cols);
  }
}

// --- Transposed: the sums of several columns side by side ---

// Computes `Vectors` vectors of columns from column j on, side by side: each sum has to wait for
// its previous fma. Squares of b are transposed in registers.
template <class Port, std::size_t Vectors>
TINYATTN_KERNEL void columns_by_squares(const auto& p, std::size_t j) noexcept {
  typename Port::vec sums[1][Vectors];
  initialize_sums<Port, TileKind{}>(sums, initial_at<Port, Vectors * Port::lanes>(p, 0, j),
                                    Port::lanes);
  const float* a = p.a.data;
  Dense b = p.b.stored.from(j, 0);
  const auto add_squares = [&]<bool IsWhole>(std::size_t count) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) {
      typename Port::vec square[Port::lanes];
      load_transposed<Port, IsWhole>(b.from(v * Port::lanes, 0), count, square);
      TINYATTN_UNROLL
      for (std::size_t lane = 0; lane < Port::lanes; ++lane)
        if (IsWhole || lane < count)
          sums[0][v] = Port::fma(Port::broadcast(a[lane]), square[lane], sums[0][v]);
    }
  };
  for (std::size_t left = p.inner / Port::lanes; left != 0; --left) {
    add_squares.template operator()<true>(Port::lanes);
    a += Port::lanes;
    b.data += Port::lanes;
  }
  if (const std::size_t left = p.inner % Port::lanes; left != 0)
    add_squares.template operator()<false>(left);
  store_sums<Port, TileKind{}>(sums, {p.out.data + j, 0}, Port::lanes);
}

// Computes all columns, `Width` at a time, by columns_from(j). The last of them overlap their
// neighbours.
template <class Port, std::size_t Width>
TINYATTN_KERNEL void cover_transposed_by(const auto& p, const auto& columns_from) noexcept {
  if (p.cols < Width) return cover_row<Port, 1>(p, 0);
  for (std::size_t j = 0;; j = next_tile(j, Width, p.cols)) {
    columns_from(j);
    if (j + Width == p.cols) return;
  }
}

template <class Port>
TINYATTN_KERNEL void cover_transposed(const auto& p) noexcept {
  const auto by_squares = [&]<std::size_t Vectors>() TINYATTN_INLINE_LAMBDA {
    cover_transposed_by<Port, Vectors * Port::lanes>(
        p, [&](std::size_t j) TINYATTN_INLINE_LAMBDA { columns_by_squares<Port, Vectors>(p, j); });
  };
  if constexpr (requires { Port::dot_products; }) {
    if constexpr (has_squares<Port>)
      if (p.cols < Port::dot_products) return by_squares.template operator()<1>();
    cover_transposed_by<Port, Port::dot_products>(p, [&](std::size_t j) TINYATTN_INLINE_LAMBDA {
      Port::dots(bias_in_memory<Port::dot_products>(p, j), p.a.data, p.b.stored.at(j, 0),
                 p.b.stored.stride, p.out.data + j, p.inner);
    });
  } else if constexpr (has_squares<Port>) {
    p.cols < 2 * Port::lanes ? by_squares.template operator()<1>()
                             : by_squares.template operator()<2>();
  } else {
    cover_row<Port, 1>(p, 0);
  }
}

// --- The product ---

// out = initial + a . b for a product of one row, or of any number where the port adds multiples;
// the bias may not be `out`.
template <class Port, class AnyProduct = Product<>>
[[gnu::noinline]] constexpr void matmul_row(const AnyProduct& p) noexcept {
  constexpr bool dense = std::same_as<AnyProduct, Product<>>,
                 transposed = std::same_as<AnyProduct, Product<Dense, Transposed<>>>;
  if constexpr (is_of_multiples<Port, AnyProduct> && is_transposed<decltype(p.b)>)
    add_multiples<Port>(p, p.b.stored.data, 1, p.b.stored.stride);
  else if constexpr (is_of_multiples<Port, AnyProduct>)
    add_multiples<Port>(p, p.b.data, p.b.stride, 1);
  else if constexpr (transposed)
    cover_transposed<Port>(p);
  else if constexpr (dense && requires { Port::row_vectors; })
    cover_row_with_overlap<Port, Port::row_vectors>(p, 0);
  else if constexpr (Port::tiles_overlap || is_transposed<decltype(p.b)>)
    cover_row<Port, row_width<Port, decltype(p.b)>>(p, 0);
  else if constexpr (Port::lanes >= 8)
    cover_row_evenly<Port>(p, std::make_index_sequence<12>());
  else
    cover_columns<Port, most_row_vectors<Port>, 1>(p, 0);
}

// Does the same for few terms, inlined, since a call would take long next to the work. Continues
// from `initial`, which may be `out`, but not nullptr. `KnownCols` is the number of columns if that
// is a constant, else 0.
template <class Port, std::size_t KnownCols>
TINYATTN_KERNEL void matmul_short_row(const Product<>& p) noexcept {
#if defined(__OPTIMIZE_SIZE__)
  constexpr std::size_t vectors = 1;
#else
  constexpr std::size_t vectors = Port::tile_vectors;
#endif
  if (is_null(p.initial.data)) __builtin_unreachable();
  if constexpr (KnownCols != 0)
    specialized_matmul<narrowed<Port, KnownCols>, Shape{1, 0, KnownCols}>(p);
  else
    cover_row<Port, vectors>(p, 0);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
