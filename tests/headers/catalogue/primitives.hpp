// SPDX-License-Identifier: MIT
//
// Cases of elementwise and reduce: every function and every reduction.
#pragma once

#include "draw.hpp"
#include "guarded.hpp"
#include "tinyattn/elementwise.hpp"
#include "tinyattn/reduce.hpp"

namespace tinyattn::test {

// Lists of names, without those of activation_list.h.
#define FUNCTIONS_OF_ONE(use)                                                                                                              \
  use(negative) use(square) use(reciprocal) use(absolute) use(sign) use(isnan) use(logical_not) use(round) use(floor) use(ceil) use(trunc) \
      use(exp) use(expm1) use(sin) use(cos) use(tanh) use(erf) use(sigmoid) use(softplus) use(logsigmoid) use(softsign) use(mish)          \
          use(selu) use(hardsigmoid) use(hardswish)
#define FUNCTIONS_OF_A_POSITIVE(use) use(log) use(log2) use(log10) use(log1p) use(sqrt) use(rsqrt)
#define FUNCTIONS_OF_TWO(use)                                                                                                          \
  use(add) use(subtract) use(multiply) use(divide) use(minimum) use(maximum) use(less) use(less_equal) use(greater) use(greater_equal) \
      use(equal) use(not_equal) use(logical_and) use(logical_or) use(remainder) use(floor_divide) use(leaky_relu) use(elu) use(celu)
#define FUNCTIONS_OF_THREE(use) use(fma) use(lerp) use(clamp) use(select)
#define REDUCTIONS(use)                                                                                                    \
  use(sum) use(mean) use(product) use(largest) use(smallest) use(variance{}) use(deviation{0}) use(norm) use(absolute_sum) \
      use(largest_magnitude) use(log_sum_exp) use(any) use(all) use(argmax) use(argmin)

// Every function, of matrices, rows and columns. Numbers are from -8 to 8, some of them whole.
template <std::size_t Rows, std::size_t Cols>
struct Elementwise {
  Matrix<float, Rows, Cols> a, positive;
  Vector<float, Cols> b;
  Matrix<float, Rows, 1> c;
  Guarded<Matrix<float, Rows, Cols>> out;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw.draw(a, 8.0f), draw.draw(b, 8.0f), draw.draw(c, 8.0f);
    for (std::size_t j = 0; j < Cols; j += 3) a(0, j) = b(j) = static_cast<float>(1 + draw.word() % 4);
    for (std::size_t i = 0; i < a.size(); ++i) positive.elements[i] = 0.0625f + (a.elements[i] < 0.0f ? -a.elements[i] : a.elements[i]);
    const auto take = [&](const char* name, auto function, const auto&... operands) {
      elementwise(function, operands..., out.tensor);
      outputs.take(name, out);
    };
#define CALL(name) take(#name, function::name, a);
    FUNCTIONS_OF_ONE(CALL)
#undef CALL
#define CALL(name) take(#name, function::name, positive);
    FUNCTIONS_OF_A_POSITIVE(CALL)
#undef CALL
#define CALL(name) take(#name, function::name, a, b);
    FUNCTIONS_OF_TWO(CALL)
#undef CALL
#define CALL(name) take(#name, function::name, a, b, c);
    FUNCTIONS_OF_THREE(CALL)
#undef CALL
    take("power", function::power, positive, b);
    take("power of a number", function::power, c, 3);
    for (float& element : a.elements) element *= 4096.0f;
    take("sin", function::sin, a);
  }
};

// What is not finite, and sizes of 2^100.
struct ElementwiseNotFinite {
  Matrix<float, 8, 1> a;
  Vector<float, 8> b;
  Matrix<float, 8, 8> out;

  void operator()(Draw& draw, auto& outputs) noexcept {
    b = opaque(vector({infinity, -infinity, quiet_nan, 0.0f, -0.0f, 0x1p100f, -1.5f, draw.number()}));
    for (std::size_t i = 0; i < 8; ++i) a(i, 0) = b(i);
    const auto take = [&](const char* name, auto function, const auto&... operands) {
      elementwise(function, operands..., out);
      outputs.take(name, out);
    };
#define CALL(name) take(#name, function::name, b);
    FUNCTIONS_OF_ONE(CALL)
    FUNCTIONS_OF_A_POSITIVE(CALL)
#undef CALL
#define CALL(name) take(#name, function::name, a, b);
    FUNCTIONS_OF_TWO(CALL)
    CALL(power)
#undef CALL
#define CALL(name) take(#name, function::name, a, b, 0.5f);
    FUNCTIONS_OF_THREE(CALL)
#undef CALL
  }
};

// Every reduction over `axes`.
template <class X, std::size_t... Axes>
struct Reduced {
  X x;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(x);
#define CALL(name) take(#name, reduce<Axes...>(reduction::name, x), outputs);
    REDUCTIONS(CALL)
#undef CALL
  }

  static constexpr void take(const char* name, const auto& out, auto& outputs) noexcept {
    Tensor<float, std::remove_cvref_t<decltype(out)>::element_count> floats{};
    for (std::size_t i = 0; i < out.size(); ++i) floats(i) = static_cast<float>(out.elements[i]);
    outputs.take(name, floats);
  }
};

}  // namespace tinyattn::test
