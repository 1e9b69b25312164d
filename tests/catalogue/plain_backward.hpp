// SPDX-License-Identifier: MIT
//
// The plain twin of the backward passes: simple loops by the formulas of kernel/backward/. Gradients of inputs are chains of fma from +0,
// and those of parameters go on from what they hold. It trusts the derivative of a single number, which unit/backward.cpp compares with
// exact values.
#pragma once

#include "plain.hpp"
#include "tinyattn/backward/gradient.hpp"
#include "tinyattn/kernel/backward/activation.hpp"

#include <type_traits>

namespace tinyattn::test::plain {

template <class Gradient>
inline constexpr bool is_wanted = !std::is_same_v<std::remove_cvref_t<Gradient>, NoGradient>;

// sums[i][j] goes on with the sum over k of a[k][i] * b[k][j].
constexpr void add_outer(Input a, Input b, Output sums) noexcept {
  for (Size k = 0; k < a.rows; ++k)
    for (Size i = 0; i < sums.rows; ++i)
      for (Size j = 0; j < sums.cols; ++j) sums(i, j) = fma(a(k, i), b(k, j), sums(i, j));
}
// d_x[i][j] goes on with the sum over k of d_out[i][k] * weight[j][k].
constexpr void add_product(Input d_out, Input weight, Output d_x) noexcept {
  for (Size i = 0; i < d_x.rows; ++i)
    for (Size j = 0; j < d_x.cols; ++j)
      for (Size k = 0; k < d_out.cols; ++k) d_x(i, j) = fma(d_out(i, k), weight(j, k), d_x(i, j));
}
constexpr void clear(Output m) noexcept {
  for (Size i = 0; i < m.rows; ++i)
    for (Size j = 0; j < m.cols; ++j) m(i, j) = 0.0f;
}
constexpr void fill_with_zeros(auto& m) noexcept {
  for (Size i = 0; i < m.size(); ++i) m.data()[i] = 0.0f;
}

constexpr void add_gradient(Input x, Input d_out, auto& gradient) noexcept {
  add_outer(x, d_out, view(gradient.weight));
  if constexpr (requires { gradient.bias.data(); })
    for (Size i = 0; i < d_out.rows; ++i) add(view(gradient.bias), d_out.rows_from(i).first_rows(1), view(gradient.bias));
}

// --- Functions ---

template <class A, class B>
constexpr void matmul_backward(const A& a, const B& b, const auto& d_out, A& d_a, B& d_b) noexcept {
  fill_with_zeros(d_a);
  fill_with_zeros(d_b);
  for (Size i = 0; i < batch_of<A>; ++i) {
    add_product(view(d_out, i), view(b, i), view(d_a, i));
    add_outer(view(a, i), view(d_out, i), view(d_b, i));
  }
}
template <class A, class B>
constexpr void matmul_transposed_backward(const A& a, const B& b, const auto& d_out, A& d_a, B& d_b) noexcept {
  fill_with_zeros(d_a);
  fill_with_zeros(d_b);
  for (Size i = 0; i < batch_of<A>; ++i) {
    add_product(view(d_out, i), view(b, i).transposed(), view(d_a, i));
    add_outer(view(d_out, i), view(a, i), view(d_b, i));
  }
}

constexpr float sum_of_products(Size count, auto a, auto b) noexcept {
  std::array<float, 16> lanes{};
  for (Size j = 0; j < count; ++j) lanes[j % 16] = fma(a(j), b(j), lanes[j % 16]);
  return reduce(lanes);
}

template <class Weights>
constexpr void softmax_backward(const Weights& weights, float scale, const Weights& d_out, Weights& d_x) noexcept {
  for (Size matrix = 0; matrix < batch_of<Weights>; ++matrix) {
    const Input w = view(weights, matrix), d = view(d_out, matrix);
    for (Size i = 0; i < w.rows; ++i) {
      const float mean = sum_of_products(
          w.cols, [&](Size j) { return w(i, j); }, [&](Size j) { return d(i, j); });
      for (Size j = 0; j < w.cols; ++j) view(d_x, matrix)(i, j) = product(product(w(i, j), d(i, j) - mean), scale);
    }
  }
}

// Of one operand of a sum or a product: factor(j) is the derivative of element j of the result. The gradient of a row goes on from row to
// row.
constexpr void combined_backward(const auto& d_out, auto& d, const auto& factor) noexcept {
  fill_with_zeros(d);
  for (Size j = 0; j < d_out.size(); ++j) d.data()[j % d.size()] = fma(d_out.data()[j], factor(j), d.data()[j % d.size()]);
}

template <class M>
constexpr void normalize_backward(const M& m, const M& d_out, M& d_m) noexcept {
  for (Size i = 0; i < view(m).rows; ++i) {
    const float r = 1.0f / sum(view(m).cols, [&](Size j) { return view(m)(i, j); });
    const float mean = product(r, sum_of_products(
                                      view(m).cols, [&](Size j) { return view(m)(i, j); }, [&](Size j) { return view(d_out)(i, j); }));
    for (Size j = 0; j < view(m).cols; ++j) view(d_m)(i, j) = product(view(d_out)(i, j) - mean, r);
  }
}

// The derivative of an activation at one number.
constexpr float slope(Activation which, float x) noexcept {
  float one = 1.0f;
  kernel::activation_backward_row<port::scalar>(which, &x, &one, &one, 1);
  return one;
}

constexpr void activation_backward(Activation which, const auto& x, const auto& d_out, auto& d_x) noexcept {
  for (Size j = 0; j < x.size(); ++j) d_x.data()[j] = product(slope(which, x.data()[j]), d_out.data()[j]);
}

template <class X>
constexpr void mean_backward(const X& x, const auto& d_out, auto& d_x) noexcept {
  for (Size matrix = 0; matrix < batch_of<X>; ++matrix)
    for (Size i = 0; i < view(x).rows; ++i)
      for (Size j = 0; j < view(x).cols; ++j)
        view(d_x, matrix)(i, j) = product(view(d_out)(matrix, j), 1.0f / static_cast<float>(view(x).rows));
}
template <class X>
constexpr void largest_backward(const X& x, const auto& d_out, auto& d_x) noexcept {
  fill_with_zeros(d_x);
  for (Size matrix = 0; matrix < batch_of<X>; ++matrix)
    for (Size j = 0; j < view(x).cols; ++j) {
      Size first = 0;
      for (Size i = 1; i < view(x).rows; ++i)
        if (view(x, matrix)(i, j) > view(x, matrix)(first, j)) first = i;
      view(d_x, matrix)(first, j) = view(d_out)(matrix, j);
    }
}

template <class X>
constexpr void standardize_backward(const auto& inverse_deviation, const X& d_out, X& d_x) noexcept {
  for (Size j = 0; j < d_x.size(); ++j) d_x.data()[j] = product(d_out.data()[j], inverse_deviation(j % inverse_deviation.size()));
}

// --- Modules ---

template <Size In, Size Out, bool Bias, class X>
constexpr void backward(const tinyattn::Linear<In, Out, Bias>& linear, const X& x, const auto& d_out, X& d_x, auto& gradient) noexcept {
  fill_with_zeros(d_x);
  for (Size i = 0; i < batch_of<X>; ++i) {
    add_gradient(view(x, i), view(d_out, i), gradient);
    add_product(view(d_out, i), view(linear.weight), view(d_x, i));
  }
}

// Of a row: x[j] becomes (x[j] - mean) * scale, and scale is returned.
constexpr float normalize_row(Input x, const Norm& by, Output out) noexcept {
  const float per_feature = 1.0f / static_cast<float>(x.cols);
  const float mean = by.bias == nullptr ? 0.0f : product(sum(x.cols, [&](Size j) { return x(0, j); }), per_feature);
  for (Size j = 0; j < x.cols; ++j) out(0, j) = by.bias == nullptr ? x(0, j) : x(0, j) - mean;
  const float squares = sum_of_squares(x.cols, [&](Size j) { return out(0, j); });
  const float scale = 1.0f / sqrt(fma(squares, per_feature, by.epsilon));
  for (Size j = 0; j < x.cols; ++j) out(0, j) = product(out(0, j), scale);
  return scale;
}

// Row after row, as for all that follows: a gradient is the same however rows are divided. d_x may be d_out.
template <class Module>
requires requires(Module norm) { norm.epsilon; }
constexpr void rows_backward(const Module& module, Input x, Input d_out, Output d_x, auto& gradient) noexcept {
  const Norm by = described(module);
  const Size dim = x.cols;
  const float per_feature = 1.0f / static_cast<float>(dim);
  const Matrix normalized(1, dim), g(1, dim);
  for (Size i = 0; i < x.rows; ++i) {
    const Input d = d_out.rows_from(i);
    const Output n = normalized, products = g;
    const float scale = normalize_row(x.rows_from(i), by, n);
    for (Size j = 0; j < dim; ++j) {
      gradient.weight(j) = fma(d(0, j), n(0, j), gradient.weight(j));
      if constexpr (requires { gradient.bias; }) gradient.bias(j) += d(0, j);
      products(0, j) = product(d(0, j), by.weight[j]);
    }
    const float of_products = product(sum_of_products(
                                          dim, [&](Size j) { return products(0, j); }, [&](Size j) { return n(0, j); }),
                                      per_feature);
    const float mean = by.bias == nullptr ? 0.0f : product(sum(dim, [&](Size j) { return products(0, j); }), per_feature);
    for (Size j = 0; j < dim; ++j) d_x(i, j) = product(fma(-of_products, n(0, j), products(0, j) - mean), scale);
  }
}

template <FeedForwardConfig config>
constexpr void rows_backward(const FeedForward<config>& layer, Input x, Input d_out, Output d_x, auto& gradient) noexcept {
  const Matrix up(1, config.d_hidden), gates(1, config.d_hidden), d_hidden(1, config.d_hidden);
  for (Size i = 0; i < x.rows; ++i) {
    const Input row = x.rows_from(i).first_rows(1), d = d_out.rows_from(i).first_rows(1);
    const Output u = up, g = gates, h = d_hidden, to = d_x.rows_from(i).first_rows(1);
    described(layer.up)(row, u);
    clear(h);
    clear(to);
    add_product(d, view(layer.down.weight), h);
    if constexpr (config.gated) described(layer.gate)(row, g);
    for (Size j = 0; j < config.d_hidden; ++j) {
      const float x_of = u(0, j), d_of = h(0, j), gate = config.gated ? g(0, j) : x_of;
      const float value = activation(config.activation, gate), its_slope = slope(config.activation, gate);
      u(0, j) = config.gated ? product(value, x_of) : value;
      h(0, j) = config.gated ? product(d_of, value) : product(its_slope, d_of);
      g(0, j) = product(its_slope, product(d_of, x_of));
    }
    add_gradient(u, d, gradient.down);
    add_gradient(row, h, gradient.up);
    add_product(h, view(layer.up.weight), to);
    if constexpr (config.gated) {
      add_gradient(row, g, gradient.gate);
      add_product(g, view(layer.gate.weight), to);
    }
  }
}

// One matrix of a batch after the other.
template <class Module, class X>
requires requires(const Module& module, Input in, Output out, Module& gradient) { rows_backward(module, in, in, out, gradient); }
constexpr void backward(const Module& module, const X& x, const auto& d_out, X& d_x, Module& gradient) noexcept {
  for (Size i = 0; i < batch_of<X>; ++i) rows_backward(module, view(x, i), view(d_out, i), view(d_x, i), gradient);
}

template <Size Count, Size Dim>
constexpr void backward(const Embedding<Count, Dim>&, const auto& tokens, const auto& d_out, const NoGradient&, auto& gradient) noexcept {
  for (Size i = 0; i < tokens.size(); ++i)
    for (Size j = 0; j < Dim; ++j) gradient.weight(tokens(i), j) += d_out(i, j);
}

// Token after token of the result.
template <Conv1dConfig config, class X>
constexpr void backward(const Conv1d<config>& layer, const X& x, const auto& d_out, X& d_x, auto& gradient) noexcept {
  fill_with_zeros(d_x);
  for (Size matrix = 0; matrix < batch_of<X>; ++matrix)
    for (Size i = 0; i < view(d_out).rows; ++i) {
      const Input d = view(d_out, matrix).rows_from(i).first_rows(1);
      if constexpr (config.bias) add(view(gradient.bias), d, view(gradient.bias));
      for (Size k = 0; k < config.kernel; ++k) {
        const Size token = i * config.stride + k - config.padding;  // wraps around before x
        if (token >= view(x).rows) continue;
        add_outer(view(x, matrix).rows_from(token).first_rows(1), d, view(gradient.weight).rows_from(k * config.in).first_rows(config.in));
        add_product(d, view(layer.weight).rows_from(k * config.in).first_rows(config.in), view(d_x, matrix).rows_from(token).first_rows(1));
      }
    }
}

}  // namespace tinyattn::test::plain
