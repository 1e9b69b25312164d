// SPDX-License-Identifier: MIT
//
// Products of given shapes against the plain loop, bit for bit, between guards.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "plain.hpp"
#include "tinyattn/matmul.hpp"

namespace tinyattn::test {

// One copy for all shapes, so that a compiler is busy with what is tested.
[[gnu::noinline]] inline void fill(float* to, std::size_t count) {
  static const auto from = numbers<Vector<float, 33 * 33>>(1);
  std::copy_n(from.data(), count, to);
}

struct Extents {
  std::size_t rows, inner, cols;
};

// b is [inner, cols], or [cols, inner] for a product by a transpose.
[[gnu::noinline]] inline void check_product(Check& check, Extents extents, bool transposed, const float* a, const float* b,
                                            const float* out) {
  const auto [rows, inner, cols] = extents;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      float sum = 0.0f;
      for (std::size_t k = 0; k < inner; ++k) sum = fma(a[i * inner + k], transposed ? b[j * inner + k] : b[k * cols + j], sum);
      check.same_bits(out[i * cols + j], sum);
    }
  }
}

template <bool transposed>
struct Product {
  template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
  [[gnu::noinline]] static void check_shape(Check& check) {
    Matrix<float, Rows, Inner> a;
    Matrix<float, transposed ? Cols : Inner, transposed ? Inner : Cols> b;
    Guarded<Matrix<float, Rows, Cols>> out;
    fill(a.data(), a.size());
    fill(b.data(), b.size());
    if constexpr (transposed)
      matmul_transposed(a, b, out.tensor);
    else
      matmul(a, b, out.tensor);
    check_product(check, {Rows, Inner, Cols}, transposed, a.data(), b.data(), out.tensor.data());
    check.that(out.guards_hold());
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
