// SPDX-License-Identifier: MIT
//
// The transpose of a matrix: squares of lanes x lanes elements in registers, if the port can
// interleave vectors. Otherwise, and for the rows that are left, vectors are scattered if the port
// can, or elements copied one by one.
#pragma once

#include "tinyattn/kernel/row.hpp"
#include "tinyattn/kernel/tile.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Whether a square of vectors can be transposed in registers.
template <class Port>
concept has_squares = requires(typename Port::vec v) {
  Port::interleave(v, v, v, v);
};

// Transposes a square of lanes x lanes elements. Interleaving rows i and i + lanes / 2 into rows 2
// i and 2 i + 1, for every i, rotates the bits of the index (row, column) left by one: after
// log2(lanes) such steps row and column are exchanged.
template <class Port, std::size_t Left = Port::lanes>
TINYATTN_KERNEL void transpose_square(typename Port::vec (&square)[Port::lanes]) noexcept {
  if constexpr (Left > 1) {
    typename Port::vec interleaved[Port::lanes];
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < Port::lanes / 2; ++i)
      Port::interleave(square[i], square[i + Port::lanes / 2], interleaved[2 * i],
                       interleaved[2 * i + 1]);
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < Port::lanes; ++i) square[i] = interleaved[i];
    transpose_square<Port, Left / 2>(square);
  }
}

// Loads a square, of which the first row starts at `from`, and transposes it. Reads the first
// `count` elements of each row, or all of them if it IsWhole.
template <class Port, bool IsWhole>
TINYATTN_KERNEL void load_transposed(Dense from, std::size_t count,
                                     typename Port::vec (&square)[Port::lanes]) noexcept {
  if constexpr (IsWhole && requires { Port::load_transposed(from.data, 0, square); }) {
    Port::load_transposed(from.data, from.stride, square);
  } else {
    TINYATTN_UNROLL
    for (std::size_t lane = 0; lane < Port::lanes; ++lane)
      square[lane] = RowVector<Port, IsWhole>{0, count}.load(from.at(lane, 0), 0.0f);
    transpose_square<Port>(square);
  }
}

// to[j][i] = from[i][j] for rows x cols elements.
template <class Port>
constexpr void transpose(std::size_t rows, std::size_t cols, Dense from, Output to) noexcept {
  std::size_t i = 0;
  if constexpr (has_squares<Port>)
    for (; i + Port::lanes <= rows; i += Port::lanes)
      for_each_vector<Port>(cols, [&](auto at) TINYATTN_INLINE_LAMBDA {
        typename Port::vec square[Port::lanes];
        load_transposed<Port, at.is_whole>(from.from(i, at.j), at.count, square);
        for (std::size_t lane = 0; lane < at.count; ++lane)
          Port::store(to.at(at.j + lane, i), square[lane]);
      });
  for (std::size_t left_rows = rows - i; left_rows != 0; --left_rows, ++i) {
    std::size_t j = 0, left = cols;
    if constexpr (requires(float* p, typename Port::vec v) { Port::scatter(p, 1, v); }) {
      left = cols % Port::lanes;
      for (; j + Port::lanes <= cols; j += Port::lanes)
        Port::scatter(to.at(j, i), to.stride, Port::load(from.at(i, j)));
    }
    for (; left != 0; --left, ++j) *to.at(j, i) = *from.at(i, j);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
