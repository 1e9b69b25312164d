// SPDX-License-Identifier: MIT
//
// Cases of arithmetic, of the generators, and of the operations on matrices. A case is a struct whose tensors are its members, so that
// a board can keep them out of its stack; it draws its inputs, computes, and hands over its outputs. No value lies below 2^-126, where
// targets may differ. Cases that are not constexpr compute with NaN and infinity, also as results of overflow.
#pragma once

#include "inputs.hpp"

#include "tinyattn/activation.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn::one_answer {

// A number of either sign whose exponent is anything from -`range` to `range` - 1.
constexpr float wide_number(Inputs& inputs, std::uint32_t range) noexcept {
  const std::uint32_t exponent = 127 - range + inputs.word() % (2 * range);
  return __builtin_bit_cast(float, (inputs.word() & 0x807fffffu) | exponent << 23);
}

// Any operands; an addend that leaves nothing of the product but its rounding error; a sum halfway between two floats.
struct Fma {
  Vector<float, 192> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    for (std::size_t i = 0; i < out.size(); i += 3) {
      const float a = wide_number(inputs, 20), b = wide_number(inputs, 20);
      out(i) = fma(a, b, wide_number(inputs, 40));
      out(i + 1) = fma(a, b, -fma(a, b, -0.0f));
      out(i + 2) = fma(wide_number(inputs, 1), hidden(1.0f), hidden(0x1p-25f));
    }
    outputs.take("out", out);
  }
};

// From where e^x is hardly a normal number to where it is hardly finite.
struct Exp {
  Vector<float, 192> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    for (float& element : out.elements) {
      const float x = 128.0f * inputs.number();
      element = exp(x < -87.0f || x > 88.0f ? 0.25f * x : x);
    }
    outputs.take("out", out);
  }
};

struct Sqrt {
  Vector<float, 64> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    for (float& element : out.elements) {
      const float x = wide_number(inputs, 60);
      element = sqrt(x < 0.0f ? -x : x);
    }
    outputs.take("out", out);
  }
};

// Around 1, where their forms meet, up to where they are 1, and of any size.
struct TanhAndErf {
  Vector<float, 192> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    for (std::size_t i = 0; i < out.size(); i += 4) {
      const float x = 4.0f * inputs.number(), y = wide_number(inputs, 60);
      out(i) = tanh(x);
      out(i + 1) = erf(x);
      out(i + 2) = tanh(y);
      out(i + 3) = erf(y);
    }
    outputs.take("out", out);
  }
};

template <std::size_t... Extents>
struct Add {
  Tensor<float, Extents...> a, b;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(a);
    inputs.draw(b, 0x1p-10f);
    outputs.take("out", add(a, b));
  }
};

// More words than the state of a Mersenne twister has, so that it is renewed in between.
template <class Generator>
struct Draws {
  Generator generator{hidden(123u)};
  Vector<float, 40> out;

  constexpr void operator()(Inputs&, auto& outputs) noexcept {
    outputs.take("rand", rand<5, 7>(generator));
    for (float& element : out.elements) {
      for (int skipped = 0; skipped < 20; ++skipped) element = uniform(generator, -3.0f, 0.1f);
    }
    outputs.take("uniform", out);
  }
};

inline constexpr auto call_dot = [](const auto& u, const auto& v, auto& out) { out = vector({dot(u, v)}); };
inline constexpr auto call_matmul = [](const auto& a, const auto& b, auto& out) { matmul(a, b, out); };
inline constexpr auto call_matmul_transposed = [](const auto& a, const auto& b, auto& out) { matmul_transposed(a, b, out); };
inline constexpr auto call_softmax = [](auto& m) { softmax(m, m); };
inline constexpr auto call_softmax_naive = [](auto& m) { softmax_naive(m, m); };
inline constexpr auto call_normalize = [](auto& m) { normalize(m, m); };
inline constexpr auto call_relu = [](auto& m) { relu(m, m); };
inline constexpr auto call_gelu = [](auto& m) { gelu(m, m); };
inline constexpr auto call_gelu_tanh = [](auto& m) { gelu_tanh(m, m); };
inline constexpr auto call_silu = [](auto& m) { silu(m, m); };

template <const auto& multiply, class A, class B, class Out>
struct Product {
  A a;
  B b;
  Out out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(a, b);
    multiply(a, b, out);
    outputs.take("out", out);
  }
};

template <std::size_t Size>
using Dot = Product<call_dot, Vector<float, Size>, Vector<float, Size>, Vector<float, 1>>;
template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
using Matmul = Product<call_matmul, Matrix<float, Rows, Inner>, Matrix<float, Inner, Cols>, Matrix<float, Rows, Cols>>;
template <std::size_t Inner, std::size_t Cols>
using MatmulOfVector = Product<call_matmul, Vector<float, Inner>, Matrix<float, Inner, Cols>, Vector<float, Cols>>;
template <std::size_t Batch, std::size_t Rows, std::size_t Inner, std::size_t Cols>
using MatmulOfBatch = Product<call_matmul, Tensor<float, Batch, Rows, Inner>, Matrix<float, Inner, Cols>, Tensor<float, Batch, Rows, Cols>>;
template <std::size_t Batch, std::size_t Rows, std::size_t Inner, std::size_t Cols>
using MatmulOfBatches =
    Product<call_matmul, Tensor<float, Batch, Rows, Inner>, Tensor<float, Batch, Inner, Cols>, Tensor<float, Batch, Rows, Cols>>;

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
using MatmulTransposed = Product<call_matmul_transposed, Matrix<float, Rows, Inner>, Matrix<float, Cols, Inner>, Matrix<float, Rows, Cols>>;

// In place, of numbers from [-scale, scale).
template <const auto& operation, int scale, std::size_t Rows, std::size_t Cols>
struct OfRows {
  Matrix<float, Rows, Cols> m;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(m, float{scale});
    operation(m);
    outputs.take("out", m);
  }
};

template <std::size_t Rows, std::size_t Cols>
using Softmax = OfRows<call_softmax, 8, Rows, Cols>;
template <std::size_t Rows, std::size_t Cols>
using SoftmaxNaive = OfRows<call_softmax_naive, 16, Rows, Cols>;
template <std::size_t Rows, std::size_t Cols>
using Normalize = OfRows<call_normalize, 1, Rows, Cols>;

template <std::size_t Rows, std::size_t Cols>
using Relu = OfRows<call_relu, 1, Rows, Cols>;
template <std::size_t Rows, std::size_t Cols>
using Gelu = OfRows<call_gelu, 16, Rows, Cols>;
template <std::size_t Rows, std::size_t Cols>
using GeluTanh = OfRows<call_gelu_tanh, 16, Rows, Cols>;
template <std::size_t Rows, std::size_t Cols>
using Silu = OfRows<call_silu, 128, Rows, Cols>;

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
    inputs.draw(linear, x);
    outputs.take("out", linear(x));
  }
};

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

// The largest floats among them.
struct ActivationsNotFinite {
  void operator()(Inputs& inputs, auto& outputs) noexcept {
    const auto m = hidden(vector({infinity, -infinity, not_a_number, largest, -largest, 100.0f, -100.0f, inputs.number()}));
    Vector<float, 16> of_single;
    for (std::size_t i = 0; i < 8; ++i) {
      of_single(i) = tanh(m(i));
      of_single(i + 8) = erf(m(i));
    }
    outputs.take("tanh and erf", of_single);
    outputs.take("relu", relu(m));
    outputs.take("gelu", gelu(m));
    outputs.take("gelu_tanh", gelu_tanh(m));
    outputs.take("silu", silu(m));
  }
};

}  // namespace tinyattn::one_answer
