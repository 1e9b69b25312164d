// SPDX-License-Identifier: MIT
//
// Cases with NaN and infinity, also as results of overflow. Constant expressions may hold neither, so these have no first row from
// the compiler.
#pragma once

#include "inputs.hpp"

#include "tinyattn/attention.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <limits>

namespace tinyattn::one_answer {

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float largest = std::numeric_limits<float>::max();

struct ArithmeticNotFinite {
  Vector<float, 36> out;

  void operator()(Inputs& inputs, auto& outputs) noexcept {
    const float operands[] = {0.0f, -1.0f, inputs.number(), infinity, not_a_number, largest};
    std::size_t i = 0;
    for (float a : operands)
      for (float b : operands) out(i++) = fma(hidden(a), hidden(b), hidden(-largest));
    outputs.take("fma", out);
    outputs.take("exp", vector({exp(hidden(infinity)), exp(hidden(-infinity)), exp(hidden(not_a_number)), exp(hidden(88.8f)),
                                exp(hidden(largest)), exp(hidden(-largest))}));
    outputs.take("sqrt", vector({sqrt(hidden(infinity)), sqrt(hidden(-infinity)), sqrt(hidden(not_a_number)), sqrt(hidden(-1.0f)),
                                 sqrt(hidden(-0.0f))}));
  }
};

// One element of each row is not finite; it takes part, so that all of the row may become NaN.
template <std::size_t Cols>
struct RowsNotFinite {
  Matrix<float, 4, Cols> m, out;

  void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(m);
    m(0, Cols - 1) = not_a_number;
    m(1, Cols / 2) = infinity;
    m(2, 0) = -infinity;
    m(3, Cols / 3) = largest;
    softmax(m, out);
    outputs.take("softmax", out);
    softmax_naive(m, out);
    outputs.take("softmax_naive", out);
    m(3, Cols / 3) = 0x1p100f;  // the inverse of the largest float is subnormal
    normalize(m, out);
    outputs.take("normalize", out);
    outputs.take("matmul_transposed", matmul_transposed(m, m));
  }
};

// Behind the causal mask of the first rows, and before it in the others.
template <std::size_t Tokens, std::size_t Dim>
struct AttentionNotFinite {
  Matrix<float, Tokens, Dim> query, key, value, out;
  Matrix<float, Tokens, Tokens> weights;

  void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(query);
    inputs.draw(key);
    inputs.draw(value);
    key(Tokens / 2, 1) = not_a_number;
    value(Tokens - 1, 0) = infinity;
    scaled_dot_product_attention(query, key, value, Causal{}, out, weights);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

}  // namespace tinyattn::one_answer
