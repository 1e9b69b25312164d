// SPDX-License-Identifier: MIT
//
// The transpose on a port: in squares of vectors, and what is left beside and below them.
#pragma once

#include <cstddef>

#include "products.hpp"
#include "same_bits.hpp"
#include "tinyattn/kernel/transpose.hpp"

namespace tinyattn::test {

template <class Port>
void check_transposes(Check& check) {
  constexpr std::size_t lanes = Port::lanes;
  for (const std::size_t rows : {std::size_t{1}, lanes, 2 * lanes + 1})
    for (const std::size_t cols : {std::size_t{1}, lanes, lanes + 1}) {
      const std::size_t stride = rows + gap;
      check_same_bits<Port>(check, cols * stride, [&](auto port, float* out) {
        kernel::transpose<decltype(port)>(rows, cols, Input{source(cols), cols}, Output{out, stride});
      });
    }
}

}  // namespace tinyattn::test
