// SPDX-License-Identifier: MIT
//
// The two products of a backward pass: a weight's gradient, summed over `Inner` tokens, and an input's, for `Rows` tokens.
#pragma once

#include "operations.hpp"
#include "tinyattn/training.hpp"

#include <cstddef>

namespace tinyattn::bench {

template <std::size_t Inner, std::size_t Rows, std::size_t Cols>
struct Outer {
  alignas(64) Matrix<float, Inner, Rows> a;
  alignas(64) Matrix<float, Inner, Cols> b;
  alignas(64) Matrix<float, Rows, Cols> out;

  void prepare() { fill(a, b); }
  void compute() { kernel::add_outer_product<native_port>({Rows, Inner, Cols, {a.data(), Rows}, {b.data(), Cols}, {out.data(), Cols}}); }
};

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct Returned {
  alignas(64) Matrix<float, Rows, Inner> a;
  alignas(64) Matrix<float, Cols, Inner> b;
  alignas(64) Matrix<float, Rows, Cols> out;

  void prepare() { fill(a, b); }
  void compute() {
    kernel::multiply_transposed<native_port>(kernel::Product<kernel::Dense, kernel::Transposed<>>{
        Rows, Inner, Cols, {a.data(), Inner}, {{b.data(), Inner}}, nullptr, {out.data(), Cols}});
  }
};

}  // namespace tinyattn::bench
