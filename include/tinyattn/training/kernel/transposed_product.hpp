// SPDX-License-Identifier: MIT
//
// Products with a transposed matrix, as that of a gradient with a weight. The chain of an element
// may go on from what it holds, so that no element is then computed twice. One copy is in flash.
#pragma once

#include "tinyattn/training/kernel/continued_product.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

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

// Computes the product by the port's tiles of `dot_rows` rows and one vector of columns. A tile
// past the end computes the last row or column again; the row is stored again, unchanged.
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
    add_multiples<Port>(p, p.b.stored.data, 1, p.b.stored.stride);
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

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
