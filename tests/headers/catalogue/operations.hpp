// SPDX-License-Identifier: MIT
//
// Cases of arithmetic, generators and operations on matrices. A case is a struct whose tensors are its members, so that a board can keep
// them off its stack. It draws its inputs, calls its operations, and hands its outputs to `outputs`. No value lies below 2^-126, where
// targets may differ. Cases that are not constexpr compute with NaN and infinity, also from overflow.
#pragma once

#include "crc.hpp"
#include "draw.hpp"
#include "guarded.hpp"
#include "tinyattn/activation.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/softmax.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn::test {

// --- Arithmetic and generators: unit/ compares these functions with wide integers, doubles and published vectors ---

// Functions of single numbers: compute(draw) returns a few results at a time.
template <const auto& compute, std::size_t Count>
struct OfNumbers {
  Vector<float, Count> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    for (std::size_t i = 0; i < Count;)
      for (const float result : compute(draw).elements) out(i++) = result;
    outputs.take("out", out);
  }
};

// fma of operands of any size; with an addend that leaves only the product's rounding error; with sums that may be ties.
inline constexpr auto some_fma = [](Draw& draw) {
  const float a = draw.wide_number(20), b = draw.wide_number(20), c = draw.wide_number(40);
  return vector({fma(a, b, c), fma(a, b, -fma(a, b, -0.0f)), fma(draw.wide_number(1), opaque(1.0f), opaque(0x1p-25f))});
};
// exp, from where e^x is barely normal to where it is barely finite.
inline constexpr auto some_exp = [](Draw& draw) {
  const float x = 128.0f * draw.number();
  return vector({exp(x < -87.0f || x > 88.0f ? 0.25f * x : x)});
};
inline constexpr auto some_sqrt = [](Draw& draw) {
  const float x = draw.wide_number(60);
  return vector({sqrt(x < 0.0f ? -x : x)});
};
// tanh and erf from -4 to 4, across the limits between their formulas, and of numbers of any size.
inline constexpr auto some_tanh_and_erf = [](Draw& draw) {
  const float x = 4.0f * draw.number(), y = draw.wide_number(60);
  return vector({tanh(x), erf(x), tanh(y), erf(y)});
};
// log of positive numbers of any size, and of numbers near 1.
inline constexpr auto some_log = [](Draw& draw) {
  const float x = draw.wide_number(60), y = 1.0f + 0.25f * draw.number();
  return vector({log(x < 0.0f ? -x : x), log(y)});
};
using Fma = OfNumbers<some_fma, 192>;
using Exp = OfNumbers<some_exp, 192>;
using Log = OfNumbers<some_log, 96>;
using Sqrt = OfNumbers<some_sqrt, 64>;
using TanhAndErf = OfNumbers<some_tanh_and_erf, 192>;

// Draws more words than the Mersenne twister's state holds, so that it is regenerated in between.
template <class Generator>
struct Draws {
  Generator generator{opaque(123u)};
  Vector<float, 40> out;

  constexpr void operator()(Draw&, auto& outputs) noexcept {
    outputs.take("rand", rand<5, 7>(generator));
    for (float& element : out.elements) {
      for (int skipped = 0; skipped < 20; ++skipped) element = uniform(generator, -3.0f, 0.1f);
    }
    outputs.take("uniform", out);
  }
};

// --- Products ---

inline constexpr auto call_dot = [](const auto& u, const auto& v, auto& out) { out = vector({dot(u, v)}); };
inline constexpr auto call_matmul = [](auto&&... args) { return matmul(args...); };
inline constexpr auto call_matmul_transposed = [](auto&&... args) { return matmul_transposed(args...); };

// A product that is written to an output.
template <const auto& multiply, class A, class B, class Out>
struct Product {
  A a;
  B b;
  Guarded<Out> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(a, b);
    multiply(a, b, out.tensor);
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

// --- Operations on rows ---

inline constexpr auto call_softmax = [](auto&&... args) { return softmax(args...); };
inline constexpr auto call_softmax_naive = [](auto&&... args) { return softmax_naive(args...); };
inline constexpr auto call_normalize = [](auto&&... args) { return normalize(args...); };

// Calls f<activation>(name) for every activation.
constexpr void for_each_activation(auto&& f) {
#define CALL(name, NAME, formula) f.template operator()<Activation::name>(#name);
  TINYATTN_ACTIVATIONS(CALL)
#undef CALL
}
// Returns the result, or writes it to the last argument if that is an output.
template <Activation activation>
inline constexpr auto activate = [](auto&&... args) noexcept {
#define CALL(name, NAME, formula) \
  if constexpr (activation == Activation::name) return tinyattn::name(args...);
  TINYATTN_ACTIVATIONS(CALL)
#undef CALL
};

template <std::size_t... Extents>
struct Add {
  Tensor<float, Extents...> a, b, out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(a);
    draw.draw(b, 0x1p-10f);
    add(a, b, out);
    outputs.take("out", out);
  }
};

inline constexpr auto call_add = [](auto&&... args) { return add(args...); };
inline constexpr auto call_subtract = [](auto&&... args) { return subtract(args...); };
inline constexpr auto call_multiply = [](auto&&... args) { return multiply(args...); };

// Every form of add, subtract and multiply: equal shapes, a row or a number on either side, in place, into a view.
template <std::size_t Cols>
struct Arithmetic {
  Matrix<float, 2, Cols> m, n;
  Matrix<float, 2, Cols + 3> wide;
  Vector<float, Cols> row;
  Tensor<float, 2, 2, Cols> batch;
  Guarded<Matrix<float, 2, Cols>> out;
  Guarded<Tensor<float, 2, 2, Cols>> batch_out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(m, row, batch, wide);
    draw.draw(n, 0x1p-10f);
    const float number = draw.number();
    const auto forms = [&](auto operation) {
      outputs.take("by value", operation(m, n));
      operation(m, row, out.tensor);
      outputs.take("with a row", out);
      operation(row, m, out.tensor);
      outputs.take("of a row", out);
      operation(n, number, out.tensor);
      outputs.take("with a number", out);
      operation(number, n, out.tensor);
      outputs.take("of a number", out);
      operation(batch, row, batch_out.tensor);
      outputs.take("of a batch", batch_out);
      auto view = columns<Cols>(wide, 2);
      operation(view, m, view);
      outputs.take("into a view", wide);
      operation(n, m, m);
      outputs.take("into an operand", m);
    };
    forms(call_add), forms(call_subtract), forms(call_multiply);
  }
};

// An operation on rows, in place, on numbers in [-scale, scale).
template <const auto& operation, int scale, std::size_t Rows, std::size_t Cols>
struct OfRows {
  Matrix<float, Rows, Cols> m;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw.draw(m, float{scale});
    operation(m, m);
    outputs.take("out", m);
  }
};

template <std::size_t Rows, std::size_t Cols>
using Softmax = OfRows<call_softmax, 8, Rows, Cols>;
template <std::size_t Rows, std::size_t Cols>
using SoftmaxNaive = OfRows<call_softmax_naive, 16, Rows, Cols>;
template <std::size_t Rows, std::size_t Cols>
using Normalize = OfRows<call_normalize, 1, Rows, Cols>;
// Wide enough for e^x in an activation's tail to become 0; gelu's tails end earlier.
constexpr int range_of(Activation activation) noexcept {
  if (activation == Activation::relu) return 1;
  return activation == Activation::gelu || activation == Activation::gelu_tanh ? 16 : 128;
}
template <Activation activation, std::size_t Rows, std::size_t Cols>
using Activated = OfRows<activate<activation>, range_of(activation), Rows, Cols>;

// Softmax of scores near 1e10, near 1e-30, some masked, and all masked.
template <std::size_t Cols>
struct SoftmaxOfExtremes {
  Matrix<float, 4, Cols> m;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(m);
    for (std::size_t j = 0; j < Cols; ++j) {
      m(0, j) = static_cast<float>(10'000'000'000 + 1024 * (draw.word() % 8));
      m(1, j) *= 0x1p-100f;
      if (draw.one_in(3)) m(2, j) = -infinity;
      m(3, j) = -infinity;
    }
    softmax(m, 0.7f, m);
    outputs.take("out", m);
  }
};

template <class Generator, std::size_t... Extents>
struct Dropout {
  Generator generator{opaque(123u)};
  Tensor<float, Extents...> m, out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(m);
    const auto drop = [&](const char* name, const DropoutRate& rate) {
      dropout(m, rate, generator, out);
      outputs.take(name, out);
    };
    drop("a tenth", 0.1);
    drop("a half", 0.5);
    drop("none", 0.0);
    drop("all", 1.0);
  }
};

// A layer without scratch, of numbers in [-scale, scale).
template <class Layer, class X, int scale = 1>
struct Computed {
  Layer layer;
  X x;
  Guarded<decltype(Layer{}(X{}))> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(layer);
    draw.draw(x, float{scale});
    layer.forward(x, out.tensor);
    outputs.take("out", out);
  }
};
template <std::size_t In, std::size_t Out, bool Bias, std::size_t... Extents>
using LinearLayer = Computed<Linear<In, Out, Bias>, Tensor<float, Extents..., In>>;
template <std::size_t In, std::size_t Out, bool Bias, std::size_t... Extents>
using Int8Layer = Computed<Linear<In, Out, Bias, Weights::int8>, Tensor<float, Extents..., In>>;

// --- Over tokens ---

// A convolution of a matrix, or of a batch; of images.
template <Conv1dConfig config, std::size_t Tokens, std::size_t... Batch>
using Convolved = Computed<Conv1d<config>, Tensor<float, Batch..., Tokens, config.in>>;
template <Conv2dConfig config, std::size_t... Extents>
using ConvolvedImages = Computed<Conv2d<config>, Tensor<float, Extents..., config.in>>;

// A convolution by value, into a view, and from a view without gaps.
template <Conv1dConfig config, std::size_t Tokens>
struct ConvolutionForms {
  static constexpr std::size_t tokens = (Tokens + 2 * config.padding - config.kernel) / config.stride + 1;
  Conv1d<config> layer;
  Matrix<float, Tokens + 2, config.in> x;
  Guarded<Matrix<float, tokens, config.out>> out;
  Matrix<float, tokens, config.out + 2> wide_out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(layer, x, wide_out);
    const MatrixView<const float, Tokens, config.in, config.in> view{x.data() + config.in};
    outputs.take("by value", layer(view));
    auto to = columns<config.out>(wide_out, 1);
    layer.forward(view, to);
    outputs.take("into a view", wide_out);
  }
};

// A recurrent layer that goes on from a state: a result, and then no result, of the same tokens.
template <class Layer, std::size_t Tokens>
struct Recurred {
  Layer layer;
  Matrix<float, Tokens, Layer::d_in> x;
  typename Layer::State state;
  typename Layer::Workspace workspace;
  Guarded<Matrix<float, Tokens, Layer::d_hidden>> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(layer, x, state);
    layer.forward(x, state, out.tensor, workspace);
    outputs.take("out", out);
    layer.forward(x, state, workspace);
    outputs.take("state", state);
  }
};

// A pool over windows.
template <auto pool, class X>
struct PooledWindows {
  X x;
  Guarded<decltype(pool(X{}))> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(x);
    pool(x, out.tensor);
    outputs.take("out", out);
  }
};

inline constexpr auto call_mean = [](auto&&... args) { return mean(args...); };
// Not inlined: GCC 12 miscounts the bytes of a function for a Cortex-M55, and then a branch does not reach.
inline constexpr auto call_largest = [](auto&&... args) __attribute__((noinline)) { return largest(args...); };

// A reduction over tokens: over all and over some, of a batch, of a view, and into a row of a matrix.
template <const auto& reduce, std::size_t Tokens, std::size_t Features>
struct Pooled {
  Matrix<float, Tokens, Features> x;
  Tensor<float, 2, Tokens, Features> batch;
  Matrix<float, Tokens, Features + 2> wide_x;
  Guarded<Vector<float, Features>> out;
  Guarded<Matrix<float, 2, Features>> batch_out;
  Matrix<float, 3, Features> rows;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(x, batch, wide_x, rows);
    outputs.take("by value", reduce(x));
    reduce(x, out.tensor);
    for (std::size_t count = 0; count < Tokens + 2; ++count) {
      static_cast<void>(reduce(x, count, out.tensor));
      outputs.take("of some tokens", out);
    }
    reduce(batch, batch_out.tensor);
    outputs.take("of a batch", batch_out);
    MatrixView<float, 1, Features, Features> row{rows.data() + Features};
    reduce(columns<Features>(wide_x, 1), row);
    outputs.take("of a view, into a row", rows);
  }
};

// Standardizes sensor samples: every form, and in place.
template <std::size_t Tokens, std::size_t Features>
struct Standardized {
  Tensor<float, 2, Tokens, Features> x;
  Matrix<float, Tokens, Features + 3> wide;
  Vector<float, Features> mean, inverse_deviation;
  Guarded<Tensor<float, 2, Tokens, Features>> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(x, wide, mean, inverse_deviation);
    outputs.take("by value", standardize(x, mean, inverse_deviation));
    auto view = columns<Features>(wide, 2);
    standardize(view, mean, inverse_deviation, view);
    outputs.take("of a view, in place", wide);
    standardize(x, mean, inverse_deviation, out.tensor);
    outputs.take("into an output", out);
  }
};

// --- NaN and infinity ---

// Quantized rows with NaN, infinity and huge numbers; -0; numbers around 2^-64, below which a row becomes zeros; halves of a step, where
// the largest number just fits a step of 2^-13 and where it just does not. Weight scales whose product with a row's step is barely normal,
// barely finite, or infinite.
struct Int8RowsOfExtremes {
  Linear<17, 5, true, Weights::int8> linear;
  Linear<17, 5, false, Weights::int8> without_bias;
  Matrix<float, 9, 17> x;
  Guarded<Matrix<float, 9, 5>> out;

  void operator()(Draw& draw, auto& outputs) noexcept {
    draw(linear, without_bias, x);
    for (float* const scales : {linear.weight.scale, without_bias.weight.scale}) {
      scales[2] = 0x1.8p-49f;
      scales[3] = 0x1.8p12f;
      scales[4] = 0x1.8p13f;
    }
    x(0, 16) = quiet_nan;
    x(1, 0) = infinity;
    x(2, 8) = -infinity;
    x(3, 3) = -largest_float;
    for (std::size_t j = 0; j < 17; ++j) {
      x(4, j) = -0.0f;
      x(5, j) *= 0x1p-64f;
      x(6, j) *= 0x1p-64f;
      x(7, j) = (static_cast<float>(j) - 8.5f) * 0x1p-13f;
      x(8, j) = 2.0f * x(7, j);
    }
    x(6, 5) = -0x1p-64f;
    x(7, 16) = 0x1.fffbfep0f;
    x(8, 16) = 0x1.fffcp0f;
    linear.forward(x, out.tensor);
    outputs.take("out", out);
    without_bias.forward(x, out.tensor);
    outputs.take("without a bias", out);
  }
};

// Each feature is NaN of either sign, infinite or a zero of either sign in one token.
template <std::size_t Tokens, std::size_t Features>
struct PooledNotFinite {
  Matrix<float, Tokens, Features> x;
  Guarded<Vector<float, Features>> out;

  void operator()(Draw& draw, auto& outputs) noexcept {
    for (const float value : {quiet_nan, -quiet_nan, infinity, -infinity, 0.0f, -0.0f})
      for (std::size_t token = 0; token < Tokens; ++token) {
        draw(x);
        for (std::size_t j = 0; j < Features; ++j)
          for (std::size_t i = 0; i < Tokens; ++i)
            if (value == 0.0f)
              x(i, j) = i == token ? value : -value - (j % 2 == 0 ? 0.0f : 1.0f);
            else if (i == token)
              x(i, j) = value;
        largest(x, out.tensor);
        outputs.take("largest", out);
        mean(x, out.tensor);
        outputs.take("mean", out);
      }
  }
};

struct ArithmeticNotFinite {
  Vector<float, 36> out;

  void operator()(Draw& draw, auto& outputs) noexcept {
    const float operands[] = {0.0f, -1.0f, draw.number(), infinity, quiet_nan, largest_float};
    std::size_t i = 0;
    for (float a : operands)
      for (float b : operands) out(i++) = fma(opaque(a), opaque(b), opaque(-largest_float));
    outputs.take("fma", out);
    outputs.take("exp", vector({exp(opaque(infinity)), exp(opaque(-infinity)), exp(opaque(quiet_nan)), exp(opaque(88.8f)),
                                exp(opaque(largest_float)), exp(opaque(-largest_float))}));
    outputs.take("sqrt", vector({sqrt(opaque(infinity)), sqrt(opaque(-infinity)), sqrt(opaque(quiet_nan)), sqrt(opaque(-1.0f)),
                                 sqrt(opaque(-0.0f))}));
  }
};

// In each row one element is NaN, infinite or the largest float, which can make the whole row NaN.
template <std::size_t Cols>
struct RowsNotFinite {
  Matrix<float, 4, Cols> m, out;
  Matrix<float, 4, 4> product;

  void operator()(Draw& draw, auto& outputs) noexcept {
    draw(m);
    m(0, Cols - 1) = quiet_nan;
    m(1, Cols / 2) = infinity;
    m(2, 0) = -infinity;
    m(3, Cols / 3) = largest_float;
    softmax(m, out);
    outputs.take("softmax", out);
    softmax_naive(m, out);
    outputs.take("softmax_naive", out);
    m(3, Cols / 3) = 0x1p100f;  // the inverse of the largest float is subnormal
    normalize(m, out);
    outputs.take("normalize", out);
    matmul_transposed(m, m, product);
    outputs.take("matmul_transposed", product);
  }
};

// Infinities, NaN, the largest floats and 100, where exp overflows; answers/ has all activations.
struct ActivationsNotFinite {
  Vector<float, 8> out;

  void operator()(Draw& draw, auto& outputs) noexcept {
    const auto m = opaque(vector({infinity, -infinity, quiet_nan, largest_float, -largest_float, 100.0f, -100.0f, draw.number()}));
    Vector<float, 16> of_single;
    for (std::size_t i = 0; i < 8; ++i) {
      of_single(i) = tanh(m(i));
      of_single(i + 8) = erf(m(i));
    }
    outputs.take("tanh and erf", of_single);
    for_each_activation([&]<Activation activation>(const char* name) {
      if (static_cast<int>(activation) >= activations_in_crcs) return;
      activate<activation>(m, out);
      outputs.take(name, out);
    });
  }
};

}  // namespace tinyattn::test
