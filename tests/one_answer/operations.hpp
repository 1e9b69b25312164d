// SPDX-License-Identifier: MIT
//
// Cases of the operations on matrices.
#pragma once

#include "inputs.hpp"

#include "tinyattn/dropout.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

namespace tinyattn::one_answer {

template <class A, class B, class Out>
struct Product {
  A a;
  B b;
  Out out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(a);
    inputs.draw(b);
    matmul(a, b, out);
    outputs.take("out", out);
  }
};

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
using Matmul = Product<Matrix<float, Rows, Inner>, Matrix<float, Inner, Cols>, Matrix<float, Rows, Cols>>;
template <std::size_t Inner, std::size_t Cols>
using MatmulOfVector = Product<Vector<float, Inner>, Matrix<float, Inner, Cols>, Vector<float, Cols>>;
template <std::size_t Batch, std::size_t Rows, std::size_t Inner, std::size_t Cols>
using MatmulOfBatch = Product<Tensor<float, Batch, Rows, Inner>, Matrix<float, Inner, Cols>, Tensor<float, Batch, Rows, Cols>>;
template <std::size_t Batch, std::size_t Rows, std::size_t Inner, std::size_t Cols>
using MatmulOfBatches = Product<Tensor<float, Batch, Rows, Inner>, Tensor<float, Batch, Inner, Cols>, Tensor<float, Batch, Rows, Cols>>;

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct MatmulTransposed {
  Matrix<float, Rows, Inner> a;
  Matrix<float, Cols, Inner> b;
  Matrix<float, Rows, Cols> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(a);
    inputs.draw(b);
    matmul_transposed(a, b, out);
    outputs.take("out", out);
  }
};

template <std::size_t Rows, std::size_t Cols>
struct Softmax {
  Matrix<float, Rows, Cols> m;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(m, 8.0f);
    softmax(m, m);
    outputs.take("out", m);
  }
};

// Scores near 1e10, near 1e-30, hidden ones among others, and nothing but hidden ones.
template <std::size_t Cols>
struct SoftmaxOfExtremes {
  Matrix<float, 4, Cols> m;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(m);
    for (std::size_t j = 0; j < Cols; ++j) {
      m(0, j) = static_cast<float>(10'000'000'000 + 1024 * (inputs.word() % 8));
      m(1, j) *= 0x1p-100f;
      if (inputs.one_in(3)) m(2, j) = -infinity;
      m(3, j) = -infinity;
    }
    softmax(m, 0.7f, m);
    outputs.take("out", m);
  }
};

template <std::size_t Rows, std::size_t Cols>
struct SoftmaxNaive {
  Matrix<float, Rows, Cols> m;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(m, 16.0f);
    softmax_naive(m, m);
    outputs.take("out", m);
  }
};

template <std::size_t Rows, std::size_t Cols>
struct Normalize {
  Matrix<float, Rows, Cols> m;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(m);
    normalize(m, m);
    outputs.take("out", m);
  }
};

template <class Generator, std::size_t... Extents>
struct Dropout {
  Generator generator{hidden(123u)};
  Tensor<float, Extents...> m;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(m);
    outputs.take("a tenth", dropout(m, 0.1, generator));
    outputs.take("a half", dropout(m, 0.5, generator));
    outputs.take("none", dropout(m, 0.0, generator));
    outputs.take("all", dropout(m, 1.0, generator));
  }
};

template <std::size_t In, std::size_t Out, bool Bias, std::size_t... Extents>
struct LinearLayer {
  Linear<In, Out, Bias> linear;
  Tensor<float, Extents..., In> x;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(linear);
    inputs.draw(x);
    outputs.take("out", linear(x));
  }
};

}  // namespace tinyattn::one_answer
