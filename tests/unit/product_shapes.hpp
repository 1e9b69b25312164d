// SPDX-License-Identifier: MIT
//
// Products of given shapes against the plain loop, bit for bit, between guards.
#pragma once

#include <array>
#include <utility>

#include "plain.hpp"
#include "tinyattn/matmul.hpp"

namespace tinyattn::test {

struct Product {
  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  [[gnu::noinline]] static void check_shape(Check& check) {
    const auto a = hidden(numbers<Matrix<float, Rows, Inner>>(Rows));
    const auto b = hidden(numbers<Matrix<float, Inner, Cols>>(Cols));
    check_output(check, plain_matmul(a, b), [&](auto& out) { matmul(a, b, out); });
  }
};

struct TransposedProduct {
  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  [[gnu::noinline]] static void check_shape(Check& check) {
    const auto a = hidden(numbers<Matrix<float, Rows, Inner>>(Inner));
    const auto b = hidden(numbers<Matrix<float, Cols, Inner>>(Cols));
    check_output(check, plain_matmul_transposed(a, b), [&](auto& out) { matmul_transposed(a, b, out); });
  }
};

// Rows, columns and, by a Latin square, the inner extent run over all sizes: any two extents meet in every combination.
template <class Form, std::size_t... Sizes>
void check_latin_square(Check& check) {
  constexpr std::size_t count = sizeof...(Sizes);
  constexpr std::array<std::size_t, count> sizes{Sizes...};
  [&]<std::size_t... Pair>(std::index_sequence<Pair...>) {
    (Form::template check_shape<sizes[Pair / count], sizes[(Pair / count + Pair) % count], sizes[Pair % count]>(check), ...);
  }
  (std::make_index_sequence<count * count>{});
}

// One extent large and the others small, each in turn.
template <class Form, std::size_t... Large>
void check_one_large(Check& check) {
  (Form::template check_shape<Large, 3, 2>(check), ...);
  (Form::template check_shape<5, Large, 1>(check), ...);
  (Form::template check_shape<1, 1, Large>(check), ...);
  (Form::template check_shape<7, 2, Large>(check), ...);
}

}  // namespace tinyattn::test
