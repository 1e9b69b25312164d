// SPDX-License-Identifier: MIT
//
// The kernels of a row on a port: softmax, normalize, exp.
#pragma once

#include <array>
#include <cstddef>
#include <limits>

#include "same_bits.hpp"
#include "tinyattn/kernel/softmax.hpp"

namespace tinyattn::test {

inline constexpr std::size_t longest_row = 67;

template <class Port>
void check_row(Check& check, const float* row, std::size_t length) {
  check_same_bits<Port>(check, length, [=](auto port, float* out) { kernel::softmax_row<decltype(port)>(row, out, length, 40.0f); });
  check_same_bits<Port>(check, length, [=](auto port, float* out) { kernel::normalize_row<decltype(port)>(row, out, length); });
  check_same_bits<Port>(check, length, [=](auto port, float* out) {
    kernel::transform_row<decltype(port)>(row, out, length, [](auto x) { return kernel::exp<decltype(port)>(x); });
  });
}

// In place too, and with scores that do not take part, or are NaN.
template <class Port>
void check_rows(Check& check) {
  static std::array<float, longest_row> row;
  for (std::size_t length = 1; length <= longest_row; ++length) {
    for (std::size_t j = 0; j < length; ++j) row[j] = source(length)[j] * (length % 3 == 0 ? 80.0f : 1.0f);
    check_row<Port>(check, row.data(), length);
    check_same_bits<Port>(check, length, [=](auto port, float* out) {
      for (std::size_t j = 0; j < length; ++j) out[j] = row[j];
      kernel::softmax_row<decltype(port)>(out, out, length, 1.0f);
    });
    row[length / 3] = -infinity;
    check_row<Port>(check, row.data(), length);
    row[length / 2] = quiet_nan;
    check_row<Port>(check, row.data(), length);
  }
}

}  // namespace tinyattn::test
