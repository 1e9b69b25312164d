// SPDX-License-Identifier: MIT
//
// Products on a port, of every kind of operand and extent that a kernel may be given.
#pragma once

#include <array>
#include <cstddef>

#include "same_bits.hpp"
#include "tinyattn/kernel/matmul.hpp"

namespace tinyattn::test {

using Input = kernel::RowMajor<const float, std::size_t>;
using InputColumns = kernel::ColumnMajor<const float, std::size_t>;
using Output = kernel::RowMajor<float, std::size_t>;

// The rows of the output stand apart, so that what is written behind one of them shows.
inline constexpr std::size_t gap = 3;

template <class Port>
void check_product(Check& check, auto rows, auto inner, auto cols, const auto& b, auto start) {
  const std::size_t stride = cols + gap;
  check_same_bits<Port>(check, rows * stride, [&](auto port, float* out) {
    kernel::matmul<decltype(port)>(kernel::Product{rows, inner, cols, Input{source(inner), inner}, b, start, Output{out, stride}});
  });
}

// With extents that are known at run time: heights around each tile's, inner extents around a step of several factors.
template <class Port>
void check_products_of_any_shape(Check& check) {
  constexpr std::array<std::size_t, 14> heights{1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 15, 16, 17};
  constexpr std::array<std::size_t, 6> inners{1, 2, 3, 4, 5, 9};
  std::size_t turn = 0;
  for (const std::size_t rows : heights)
    for (const std::size_t cols : edges<Port>) {
      const std::size_t inner = inners[turn++ % inners.size()];
      check_product<Port>(check, rows, inner, cols, Input{source(cols), cols}, kernel::Bias{source(rows)});
      check_product<Port>(check, rows, inner, cols, InputColumns{source(cols), inner}, kernel::Zero{});
    }
}

// With extents that the compiler knows.
template <class Port>
void check_products_of_fixed_shapes(Check& check) {
  constexpr std::size_t tile = Port::tile_vectors * Port::lanes;
  const auto check_shape = [&](auto rows, auto inner, auto cols) {
    check_product<Port>(check, rows, inner, cols, Input{source(cols), cols}, kernel::Zero{});
  };
  check_shape(kernel::Extent<5>{}, kernel::Extent<3>{}, kernel::Extent<tile>{});
  check_shape(kernel::Extent<4>{}, kernel::Extent<6>{}, kernel::Extent<tile + 1>{});
  check_shape(kernel::Extent<7>{}, kernel::Extent<4>{}, kernel::Extent<(tile > 1 ? tile - 1 : 1)>{});
  check_shape(kernel::Extent<17>{}, kernel::Extent<8>{}, kernel::Extent<5>{});
  check_shape(kernel::Extent<1>{}, kernel::Extent<5>{}, kernel::Extent<4 * tile + 3>{});
  check_shape(kernel::Extent<13>{}, kernel::Extent<9>{}, kernel::Extent<tile + 2>{});
}

}  // namespace tinyattn::test
