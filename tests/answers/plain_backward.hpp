// SPDX-License-Identifier: MIT
//
// The plain twin of the backward passes: simple loops by the formulas of training/kernel/. Gradients of inputs are chains of fma that start
// at +0; gradients of parameters accumulate. It relies on the derivatives of single numbers, which unit/backward.cpp compares with exact
// values.
#pragma once

#include "plain.hpp"
#include "tinyattn/training/cross_entropy.hpp"
#include "tinyattn/training/kernel/activation.hpp"

namespace tinyattn::test::plain {

// The gradients of a projection or a norm, which accumulate. A bias is one row; an empty member is frozen or does not exist.
struct Gradient {
  Output weight = {}, bias = {};
};

// sums[i][j] += sum over k of a[k][i] * b[k][j], as one chain.
inline void add_outer(Input a, Input b, Output sums) noexcept {
  for (Size k = 0; k < a.rows; ++k)
    for (Size i = 0; i < sums.rows; ++i)
      for (Size j = 0; j < sums.cols; ++j) sums(i, j) = fma(a(k, i), b(k, j), sums(i, j));
}
// d_x[i][j] += sum over k of d_out[i][k] * weight[j][k], as one chain.
inline void add_product(Input d_out, Input weight, Output d_x) noexcept {
  for (Size i = 0; i < d_x.rows; ++i)
    for (Size j = 0; j < d_x.cols; ++j)
      for (Size k = 0; k < d_out.cols; ++k) d_x(i, j) = fma(d_out(i, k), weight(j, k), d_x(i, j));
}
inline void clear(Output m) noexcept {
  for (Size i = 0; i < m.rows; ++i)
    for (Size j = 0; j < m.cols; ++j) m(i, j) = 0.0f;
}
inline void add_gradient(Input x, Input d_out, const Gradient& gradient) noexcept {
  add_outer(x, d_out, gradient.weight);
  for (Size i = 0; i < d_out.rows; ++i) add(gradient.bias, d_out.rows_from(i).first_rows(1), gradient.bias);
}

// --- Functions ---

// Of two rows.
inline float sum_of_products(Input a, Input b) noexcept {
  std::array<float, 16> lanes{};
  for (Size j = 0; j < a.cols; ++j) lanes[j % 16] = fma(a(0, j), b(0, j), lanes[j % 16]);
  return reduce(lanes);
}

inline void softmax_backward(Input weights, float scale, Input d_out, Output d_x) noexcept {
  for (Size i = 0; i < weights.rows; ++i) {
    const float mean = sum_of_products(weights.rows_from(i), d_out.rows_from(i));
    for (Size j = 0; j < weights.cols; ++j) d_x(i, j) = product(product(weights(i, j), d_out(i, j) - mean), scale);
  }
}
// The derivative of an activation at one number.
inline float slope(Activation which, float x) noexcept {
  float one = 1.0f;
  kernel::activation_backward_row<port::scalar>(which, &x, &one, &one, 1);
  return one;
}

// Reductions over tokens: d_out is one row.
inline void mean_backward(Input d_out, Output d_x) noexcept {
  for (Size i = 0; i < d_x.rows; ++i)
    for (Size j = 0; j < d_x.cols; ++j) d_x(i, j) = product(d_out(0, j), 1.0f / static_cast<float>(d_x.rows));
}
inline void largest_backward(Input x, Input d_out, Output d_x) noexcept {
  for (Size j = 0; j < x.cols; ++j) {
    Size first = 0;
    for (Size i = 1; i < x.rows; ++i)
      if (x(i, j) > x(first, j)) first = i;
    for (Size i = 0; i < x.rows; ++i) d_x(i, j) = i == first ? d_out(0, j) : 0.0f;
  }
}
// --- Layers ---

// Row after row, as everything below: a gradient does not depend on how rows are divided. d_x may be d_out.
inline void rows_backward(const Linear& linear, Input x, Input d_out, Output d_x, const Gradient& gradient) noexcept {
  clear(d_x);
  add_gradient(x, d_out, gradient);
  add_product(d_out, linear.weight, d_x);
}

// A low-rank adapter of a projection.
struct Adapter {
  Input a, b;
  float scale;
};
// low = s * (x . A)
inline void project_to_rank(Input x, Input a, float scale, Output low) noexcept {
  matmul(x, a, low);
  for_each(low, low, [&](float sum) { return product(sum, scale); });
}
// out[i][j] += sum over r of low[i][r] * b[r][j], as one chain.
inline void add_from_rank(Input low, Input b, Output out) noexcept { add_product(low, b.transposed(), out); }

// The base layer is frozen.
inline void rows_backward(const Linear& linear, const Adapter& adapter, Input x, Input d_out, Output d_x, Output d_a, Output d_b) noexcept {
  const Matrix low(x.rows, adapter.a.cols);
  project_to_rank(x, adapter.a, adapter.scale, low);
  add_outer(low, d_out, d_b);
  project_to_rank(d_out, adapter.b.transposed(), adapter.scale, low);
  add_outer(x, low, d_a);
  rows_backward(linear, x, d_out, d_x, {});
  add_product(low, adapter.a, d_x);
}

inline void rows_backward(const Norm& by, Input x, Input d_out, Output d_x, const Gradient& gradient) noexcept {
  const Size dim = x.cols;
  const float per_feature = 1.0f / static_cast<float>(dim);
  const Matrix normalized(1, dim), g(1, dim);
  for (Size i = 0; i < x.rows; ++i) {
    const Input d = d_out.rows_from(i);
    const Output n = normalized, products = g;
    const float scale = normalize_row(x.rows_from(i), by, n);
    for (Size j = 0; j < dim; ++j) {
      gradient.weight(0, j) = fma(d(0, j), n(0, j), gradient.weight(0, j));
      if (gradient.bias.first != nullptr) gradient.bias(0, j) += d(0, j);
      products(0, j) = product(d(0, j), by.weight[j]);
    }
    const float of_products = product(sum_of_products(products, n), per_feature);
    // Added, so that a -0 becomes the +0 of an RMS norm.
    const float minus_mean = by.bias == nullptr ? 0.0f : product(sum(dim, [&](Size j) { return products(0, j); }), -per_feature);
    for (Size j = 0; j < dim; ++j) d_x(i, j) = product(fma(-of_products, n(0, j), products(0, j) + minus_mean), scale);
  }
}

struct HiddenGradient {
  Gradient up, gate, down;
};
inline void rows_backward(const Hidden& layer, Input x, Input d_out, Output d_x, const HiddenGradient& gradient) noexcept {
  const Size width = layer.up.outputs();
  const bool is_gated = layer.gate.outputs() != 0;
  const Matrix up(1, width), gates(1, width), d_hidden(1, width), d_row(1, d_out.cols);
  for (Size i = 0; i < x.rows; ++i) {
    const Input row = x.rows_from(i).first_rows(1), d = d_row;
    const Output u = up, g = gates, h = d_hidden, to = d_x.rows_from(i).first_rows(1);
    copy(d_out.rows_from(i), d_row);
    layer.up(row, u);
    clear(h);
    add_product(d, layer.down.weight, h);
    if (is_gated) layer.gate(row, g);
    for (Size j = 0; j < width; ++j) {
      const float x_of = u(0, j), d_of = h(0, j), gate = is_gated ? g(0, j) : x_of;
      const float value = activation(layer.activation, gate), its_slope = slope(layer.activation, gate);
      u(0, j) = is_gated ? product(value, x_of) : value;
      h(0, j) = is_gated ? product(d_of, value) : product(its_slope, d_of);
      g(0, j) = product(its_slope, product(d_of, x_of));
    }
    add_gradient(u, d, gradient.down);
    add_gradient(row, h, gradient.up);
    if (is_gated) add_gradient(row, g, gradient.gate);
    clear(to);
    add_product(h, layer.up.weight, to);
    if (is_gated) add_product(g, layer.gate.weight, to);
  }
}

// One output token after the other.
inline void rows_backward(const Convolution& layer, Input x, Input d_out, Output d_x, const Gradient& gradient) noexcept {
  clear(d_x);
  for (Size i = 0; i < d_out.rows; ++i) {
    const Input d = d_out.rows_from(i).first_rows(1);
    add(gradient.bias, d, gradient.bias);
    for (Size k = 0; k < layer.kernel; ++k) {
      const Size token = i * layer.stride + k - layer.padding;  // wraps around before x
      if (token >= x.rows) continue;
      const auto of_token = [&](auto weight) { return weight.rows_from(k * x.cols).first_rows(x.cols); };
      add_outer(x.rows_from(token).first_rows(1), d, of_token(gradient.weight));
      add_product(d, of_token(layer.of_rows.weight), d_x.rows_from(token).first_rows(1));
    }
  }
}

inline void add_embedded(const Token* tokens, Input d_out, Output table) noexcept {
  for (Size i = 0; i < d_out.rows; ++i)
    for (Size j = 0; j < d_out.cols; ++j) table(tokens[i], j) += d_out(i, j);
}
// --- The loss ---

// The lowest finite float for a row of -infinity.
inline float maximum(Input row) noexcept {
  float result = -0x1.fffffep127f;
  for (Size j = 0; j < row.cols; ++j)
    if (row(0, j) > result) result = row(0, j);
  return result;
}

// Replaces the logits by their gradient.
inline float cross_entropy(Output logits, const Token* targets, float factor) noexcept {
  Size count = 0;
  for (Size i = 0; i < logits.rows; ++i) count += targets[i] != ignore_index ? 1 : 0;
  const float share = 1.0f / static_cast<float>(count);
  float total = 0.0f;
  for (Size i = 0; i < logits.rows; ++i) {
    const Output row = logits.rows_from(i).first_rows(1);
    if (targets[i] == ignore_index) {
      for (Size j = 0; j < row.cols; ++j) row(0, j) = 0.0f;
      continue;
    }
    const float distance = maximum(row) - row(0, targets[i]);
    softmax(row, 1.0f, row);
    total += distance - log(maximum(row));
    row(0, targets[i]) -= 1.0f;
    for (Size j = 0; j < row.cols; ++j) row(0, j) = product(row(0, j), product(factor, share));
  }
  return product(total, share);
}

}  // namespace tinyattn::test::plain
