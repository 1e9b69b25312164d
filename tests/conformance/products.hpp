// SPDX-License-Identifier: MIT
//
// Compares products on a port (of any shape, and specialized by size) and transposes with plain loops.
#pragma once

#include "same_bits.hpp"
#include "tinyattn/kernel/backward/product.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/transpose.hpp"

#include <bit>
#include <cstddef>

namespace tinyattn::test {

inline constexpr auto matmul = [](auto port, const auto& p) { kernel::matmul<decltype(port)>(p); };
inline constexpr auto matmul_row = [](auto port, const auto& p) { kernel::matmul_row<decltype(port)>(p); };

// The shape of a product to check, and the form of its operands.
struct ProductCase {
  std::size_t rows, inner, cols;
  bool has_bias = false, b_is_transposed = false;
};

// With `accumulates`, the output holds its accumulators, as in a gradient of weights, out += a transposed . b.
template <class Port, bool a_is_transposed = false, bool accumulates = false>
void check_product(Check& check, const ProductCase& p, auto multiply) {
  const kernel::Dense a{source(p.inner), (a_is_transposed ? p.rows : p.inner) + gap};
  const kernel::Dense b{source(p.cols), (p.b_is_transposed ? p.inner : p.cols) + gap};
  const float* const bias = p.has_bias ? source(p.rows) : nullptr;
  const std::size_t stride = p.cols + gap;
  const auto element = [](const kernel::Dense& from, bool is_transposed, std::size_t i, std::size_t j) {
    return is_transposed ? *from.at(j, i) : *from.at(i, j);
  };
  const auto write_initial = [&](float* out) {
    for (std::size_t i = 0; i < p.rows; ++i)
      for (std::size_t j = 0; j < p.cols; ++j)
        out[i * stride + j] = accumulates ? source(p.rows)[(i * p.cols + j) % (source_size - 64)] : p.has_bias ? bias[j] : 0.0f;
  };
  const auto plain_loop = [&](auto port, float* out) {
    write_initial(out);
    for (std::size_t i = 0; i < p.rows; ++i, out += stride)
      for (std::size_t j = 0; j < p.cols; ++j)
        for (std::size_t k = 0; k < p.inner; ++k)
          out[j] = port.fma(element(a, a_is_transposed, i, k), element(b, p.b_is_transposed, k, j), out[j]);
  };
  check_same_bits<Port>(check, p.rows * stride, plain_loop, [&](auto port, float* out) {
    const kernel::Output to{out, stride};
    if (accumulates) write_initial(out);
    const auto with = [&](auto by, auto times) {
      if constexpr (accumulates)
        multiply(port,
                 kernel::Product<decltype(by), decltype(times), kernel::Dense>{p.rows, p.inner, p.cols, by, times, {out, stride}, to});
      else
        multiply(port, kernel::Product<decltype(by), decltype(times)>{p.rows, p.inner, p.cols, by, times, bias, to});
    };
    if constexpr (a_is_transposed)
      with(kernel::Transposed<>{a}, b);
    else if (p.b_is_transposed)
      with(a, kernel::Transposed<>{b});
    else
      with(a, b);
  });
}

// Heights around the heights of tiles and twice those; inner extents around iterations of several steps.
inline constexpr std::size_t heights[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 15, 16, 17, 24, 33};
inline constexpr std::size_t inners[] = {0, 1, 2, 3, 4, 5, 9};

template <class Port>
void check_products_of_any_shape(Check& check) {
  std::size_t turn = 0;
  for (const std::size_t rows : heights)
    for (const std::size_t cols : edges<Port>) {
      const std::size_t inner = inners[turn++ % std::size(inners)];
      if (rows * (cols + gap) > field_size) continue;
      for (const bool is_transposed : {false, true})
        check_product<Port>(check, {rows, inner, cols, (turn % 2 == 0) != is_transposed, is_transposed}, matmul);
    }
  // A product of one row uses wider panels.
  constexpr std::size_t panel = std::bit_floor(Port::registers * 3 / 4) * Port::lanes;
  for (const std::size_t cols : {panel - 1, panel, panel + 1, 2 * panel + Port::lanes + 1})
    check_product<Port>(check, {1, 3, cols, cols % 2 == 0}, matmul);
}

template <class Port>
void check_accumulated_products(Check& check) {
  for (const std::size_t rows : {1u, 3u, 7u, 13u})
    for (const std::size_t cols : {1u, 5u, 17u, 33u}) {
      check_product<Port, true, true>(check, {rows, 5, cols}, matmul);
      check_product<Port, false, true>(check, {rows, 4, cols}, matmul);
    }
}

// Checks products of one row: widths around every tile of one row, inner extents around iterations of eight steps.
template <class Port>
void check_rows_times_matrices(Check& check) {
  std::size_t turn = 0;
  for (std::size_t cols = 1; cols <= 60; ++cols)
    for (const std::size_t inner : {0u, 1u, 3u, 7u, 8u, 9u, 16u, 21u}) {
      check_product<Port>(check, {1, inner, cols, ++turn % 3 != 0}, matmul_row);
      check_product<Port>(check, {1, inner, cols, turn % 3 != 1, true}, matmul_row);
    }
}

// Checks a product specialized by size, also with the inner extent 0.
template <class Port, std::size_t Rows, std::size_t Inner, std::size_t Cols>
void check_specialized_product(Check& check) {
  static constexpr kernel::Shape shape{Rows, Inner, Cols};
  static_assert(!kernel::specializes_shapes<Port> || kernel::is_specialized<Port>(shape));
  for (const bool has_bias : {false, true})
    for (const std::size_t inner : {std::size_t{0}, Inner})
      check_product<Port>(check, {Rows, inner, Cols, has_bias}, [](auto, const auto& p) { kernel::matmul<Port, shape>(p); });
}

inline constexpr auto add_outer_product = [](auto port, const auto& p) {
  kernel::add_outer_product<decltype(port)>({p.rows, p.inner, p.cols, p.a.stored, p.b, p.out});
};
inline constexpr auto multiply_transposed = [](auto port, const auto& p) {
  if constexpr (kernel::is_transposed<decltype(p.b)>) kernel::multiply_transposed<decltype(port)>(p);
};

// Checks the products of a backward pass; inner extents around the blocks that are transposed, too.
template <class Port>
void check_backward_products(Check& check) {
  std::size_t turn = 0;
  for (const std::size_t rows : heights)
    for (const std::size_t cols : edges<Port>) {
      if (rows * (cols + gap) > field_size) continue;
      const std::size_t inner = inners[turn++ % std::size(inners)];
      check_product<Port, true, true>(check, {rows, inner, cols}, add_outer_product);
      check_product<Port, false, true>(check, {rows, inner, cols, false, true}, multiply_transposed);
      check_product<Port>(check, {rows, inner, cols, turn % 2 == 0, true}, multiply_transposed);
    }
  constexpr std::size_t block = kernel::packed_size<Port> / kernel::packed_cols<Port>;
  for (const std::size_t inner : {block - 1, block, block + 1, 2 * block + Port::lanes + 1}) {
    const std::size_t most = (source_size - 64) / (inner + gap);
    const std::size_t rows = kernel::minimum(3, most), cols = kernel::minimum(2 * Port::tile_vectors * Port::lanes + 1, most);
    if (most != 0) check_product<Port>(check, {rows, inner, cols, inner % 2 == 0, true}, multiply_transposed);
  }
}

template <class Port>
void check_products(Check& check) {
  check_products_of_any_shape<Port>(check);
  check_accumulated_products<Port>(check);
  check_rows_times_matrices<Port>(check);
  constexpr std::size_t tile = kernel::minimum(Port::tile_vectors * Port::lanes, 16);
  check_specialized_product<Port, 5, 3, tile>(check);
  check_specialized_product<Port, 4, 6, tile + 1>(check);
  check_specialized_product<Port, 7, 4, (tile > 1 ? tile - 1 : 1)>(check);
  check_specialized_product<Port, 17, 5, 5>(check);
  check_specialized_product<Port, 1, 7, 3 * tile + 3>(check);
  check_specialized_product<Port, 13, 2, tile + 2>(check);
  check_specialized_product<Port, 2, 1, 2>(check);
}

// Checks transposes of whole squares of vectors, and of what is left over to the right and below.
template <class Port>
void check_transposes(Check& check) {
  constexpr std::size_t lanes = Port::lanes;
  for (const std::size_t rows : {std::size_t{1}, lanes, 2 * lanes + 1})
    for (const std::size_t cols : {std::size_t{1}, lanes, lanes + 1, 3 * lanes - 1}) {
      const kernel::Dense from{source(cols), cols + gap};
      const std::size_t stride = rows + gap;
      const auto plain_loop = [&](auto, float* out) {
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < cols; ++j) out[j * stride + i] = *from.at(i, j);
      };
      check_same_bits<Port>(check, cols * stride, plain_loop, [&](auto port, float* out) {
        kernel::transpose<decltype(port)>(rows, cols, from, {out, stride});
      });
    }
}

}  // namespace tinyattn::test
