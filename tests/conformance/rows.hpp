// SPDX-License-Identifier: MIT
//
// The kernels of rows on a port: softmax of several side by side, normalize, exp.
#pragma once

#include <array>
#include <cstddef>

#include "same_bits.hpp"
#include "tinyattn/kernel/softmax.hpp"

namespace tinyattn::test {

inline constexpr std::size_t longest_row = 67;
inline constexpr std::size_t row_count = 7;
inline constexpr std::size_t row_stride = longest_row + 3;

using Rows = std::array<float, row_count * row_stride>;

// Row i of `from`, on the way to `to`. Its length is a number, or an Extent.
template <class Length>
auto rows_between(const float* from, float* to, Length length) noexcept {
  return [=](std::size_t i) { return kernel::Row<false, Length>{from + i * row_stride, to + i * row_stride, length}; };
}

template <class Port>
void check_rows(Check& check, const float* from, auto length, std::size_t most) {
  check_same_bits<Port>(check, row_count * row_stride, [=](auto port, float* out) {
    kernel::softmax_rows<decltype(port)>(row_count, most, rows_between(from, out, length), 40.0f);
  });
  check_same_bits<Port>(check, row_count * row_stride, [=](auto port, float* out) {
    for (std::size_t i = 0; i < row_count; ++i) kernel::normalize_row<decltype(port)>(rows_between(from, out, length)(i));
  });
  check_same_bits<Port>(check, row_count * row_stride, [=](auto port, float* out) {
    for (std::size_t i = 0; i < row_count; ++i)
      kernel::transform_row<decltype(port)>(rows_between(from, out, length)(i), [](auto x) { return kernel::exp<decltype(port)>(x); });
  });
}

// Rows that grow from one to the next, in place: the scores of queries behind each other.
template <class Port>
void check_growing_rows(Check& check, const float* from, std::size_t first) {
  check_same_bits<Port>(check, row_count * row_stride, [=](auto port, float* out) {
    for (std::size_t i = 0; i < row_count * row_stride; ++i) out[i] = from[i];
    const auto row_at = [=](std::size_t i) { return rows_between(out, out, first + i)(i); };
    kernel::softmax_rows<decltype(port)>(row_count, longest_row, row_at, 1.0f);
  });
}

// With scores that do not take part, or are NaN, in some of the rows.
template <class Port>
void check_rows(Check& check) {
  static Rows rows;
  for (std::size_t length = 1; length <= longest_row; ++length) {
    for (std::size_t j = 0; j < rows.size(); ++j) rows[j] = source(length)[j] * (length % 3 == 0 ? 80.0f : 1.0f);
    check_rows<Port>(check, rows.data(), length, length);
    if (length + row_count <= longest_row) check_growing_rows<Port>(check, rows.data(), length);
    rows[row_stride + length / 3] = -infinity;
    rows[2 * row_stride + length / 2] = quiet_nan;
    check_rows<Port>(check, rows.data(), length, longest_row);
  }
  const auto check_extent = [&](auto length) { check_rows<Port>(check, rows.data(), length, length); };
  check_extent(kernel::Extent<Port::lanes + 1>{});
  check_extent(kernel::Extent<2 * Port::lanes + 2>{});
  check_extent(kernel::Extent<3 * Port::lanes>{});
}

}  // namespace tinyattn::test
