// SPDX-License-Identifier: MIT
//
// The plain twin of the library: simple loops over sizes known at run time, by the formulas of kernel/README.md. A product is a sequential
// sum of fma, a row is summed in sixteen lanes, softmax subtracts the maximum; nothing is blocked, vectorized or skipped. Every target has
// exactly these bits. It relies on fma, exp, sqrt and the activations of single numbers, which tests/headers/unit compares with wide
// integers and doubles.
#pragma once

#include "tinyattn/attention_config.hpp"
#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/int8/integers.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/random.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tinyattn::test::plain {

using Size = std::size_t;

// --- Matrices ---

// A matrix in memory: row i begins i * row_step elements after row 0.
template <class Element>
struct View {
  Element* first = nullptr;
  Size rows = 0, cols = 0, row_step = 0, col_step = 1;

  constexpr Element& operator()(Size i, Size j) const noexcept { return first[i * row_step + j * col_step]; }
  constexpr View transposed() const noexcept { return {first, cols, rows, col_step, row_step}; }
  constexpr View columns(Size begin, Size count) const noexcept { return {first + begin * col_step, rows, count, row_step, col_step}; }
  constexpr View first_rows(Size count) const noexcept { return {first, count, cols, row_step, col_step}; }
  constexpr View rows_from(Size begin) const noexcept { return {first + begin * row_step, rows - begin, cols, row_step, col_step}; }
  constexpr operator View<const Element>() const noexcept { return {first, rows, cols, row_step, col_step}; }
};
using Input = View<const float>;
using Output = View<float>;

// A matrix with memory of its own, taken from one array that is used as a stack, since boards have no heap.
class Matrix {
 public:
  Matrix(Size rows, Size cols) noexcept : m_{floats + used, rows, cols, cols} {
    if (rows * cols > room - used) __builtin_trap();
    used += rows * cols;
    for (Size i = 0; i < rows * cols; ++i) m_.first[i] = 0.0f;
  }
  ~Matrix() { used -= m_.rows * m_.cols; }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  operator Output() const noexcept { return m_; }
  operator Input() const noexcept { return m_; }
  const Output& operator*() const noexcept { return m_; }

 private:
  static constexpr Size room = __STDC_HOSTED__ != 0 ? Size{1} << 20 : 1200;
  static inline float floats[room];
  static inline Size used = 0;

  Output m_;
};

// The rounded product, which no compiler contracts into an fma.
inline float product(float a, float b) noexcept { return port::scalar::mul(a, b); }

inline void copy(Input from, Output to) noexcept {
  for (Size i = 0; i < to.rows; ++i)
    for (Size j = 0; j < to.cols; ++j) to(i, j) = from(i, j);
}
inline void for_each(Input m, Output out, auto function) noexcept {
  for (Size i = 0; i < m.rows; ++i)
    for (Size j = 0; j < m.cols; ++j) out(i, j) = function(m(i, j));
}
inline void combine(Input a, Input b, Output out, auto of_two) noexcept {
  for (Size i = 0; i < out.rows; ++i)
    for (Size j = 0; j < out.cols; ++j) out(i, j) = of_two(a(i, j), b(i, j));
}
inline void add(Input a, Input b, Output out) noexcept {
  combine(a, b, out, [](float x, float y) { return x + y; });
}
// Each element is a sequential sum: it starts at the element of `initial`, or at +0, and adds a(i, k) * b(k, j) for increasing k, rounded
// once per step.
inline void matmul(Input a, Input b, Output out, const float* initial = nullptr) noexcept {
  for (Size i = 0; i < a.rows; ++i)
    for (Size j = 0; j < b.cols; ++j) {
      float sum = initial == nullptr ? 0.0f : initial[j];
      for (Size k = 0; k < a.cols; ++k) sum = fma(a(i, k), b(k, j), sum);
      out(i, j) = sum;
    }
}

// --- Weights of int8 ---

constexpr std::int64_t rounded_down(double x) noexcept {
  const auto cut = static_cast<std::int64_t>(x);
  return cut - (static_cast<double>(cut) > x ? 1 : 0);
}
// Rounds to the nearest integer, ties to even.
constexpr std::int64_t nearest(double x) noexcept {
  const std::int64_t below = rounded_down(x);
  const double rest = x - static_cast<double>(below);
  return below + (rest > 0.5 || (rest == 0.5 && below % 2 != 0) ? 1 : 0);
}

// Returns 2^bits - 1, with bits <= 14 and so few that a sum of `inputs` products with int8 weights fits into 32 bits.
inline std::int64_t largest_integer(Size inputs) noexcept {
  std::int64_t most = (1 << 14) - 1;
  while (most * 127 * static_cast<std::int64_t>(inputs) > INT32_MAX) most /= 2;
  return most;
}

// Quantizes a row, and returns the step: the smallest power of two with which no integer exceeds `most`. A row whose numbers all lie below
// 2^-64 becomes zeros with a step of 0; one with NaN or infinity has a step of NaN.
inline float quantize(Input x, Output integers, std::int64_t most) noexcept {
  double largest = 0;
  for (Size k = 0; k < x.cols; ++k) {
    integers(0, k) = 0.0f;
    if (!(x(0, k) - x(0, k) == 0.0f)) largest = 0x1p128;
    const double magnitude = static_cast<double>(x(0, k) < 0.0f ? -x(0, k) : x(0, k));
    if (largest < magnitude) largest = magnitude;
  }
  if (largest >= 0x1p128) return __builtin_nanf("");
  if (largest < 0x1p-64) return 0.0f;
  double step = 0x1p-80;
  while (largest / step >= static_cast<double>(most) + 0.5) step *= 2;
  for (Size k = 0; k < x.cols; ++k) integers(0, k) = static_cast<float>(nearest(static_cast<double>(x(0, k)) / step));
  return static_cast<float>(step);
}

// A row of integers times a weight, plus bias; weight (k, j) is (codes(j, k) - 128) * scales[j]. The sum of integers is exact. Roundings:
// its conversion to float, the product of the weight's scale and the row's step, and the fma of both and the bias.
inline void multiply(Input integers, float step, View<const std::uint8_t> codes, const float* scales, Output out,
                     const float* bias) noexcept {
  for (Size j = 0; j < codes.rows; ++j) {
    std::int64_t sum = 0;
    for (Size k = 0; k < integers.cols; ++k) sum += static_cast<std::int64_t>(integers(0, k)) * (codes(j, k) - 128);
    const float scale = product(scales[j], step);
    out(0, j) = bias == nullptr ? product(static_cast<float>(sum), scale) : fma(static_cast<float>(sum), scale, bias[j]);
  }
}
inline void matmul(Input x, View<const std::uint8_t> codes, const float* scales, Output out, const float* bias) noexcept {
  const Matrix integers(1, x.cols);
  for (Size i = 0; i < x.rows; ++i) {
    const float step = quantize(x.rows_from(i).first_rows(1), integers, largest_integer(x.cols));
    multiply(integers, step, codes, scales, out.rows_from(i), bias);
  }
}

// --- Rows ---

// Adds lanes that lie 8, 4, 2 and 1 apart.
inline float reduce(std::array<float, 16> lanes) noexcept {
  for (Size half = 8; half > 0; half /= 2)
    for (Size lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

// Adds element j to lane j % 16.
inline float sum(Size count, auto element) noexcept {
  std::array<float, 16> lanes{};
  for (Size j = 0; j < count; ++j) lanes[j % 16] += element(j);
  return reduce(lanes);
}
inline float sum_of_squares(Size count, auto element) noexcept {
  std::array<float, 16> lanes{};
  for (Size j = 0; j < count; ++j) lanes[j % 16] = fma(element(j), element(j), lanes[j % 16]);
  return reduce(lanes);
}

// Divides each row by its sum.
inline void normalize(Input m, Output out) noexcept {
  for (Size i = 0; i < m.rows; ++i) {
    const float total = sum(m.cols, [&](Size j) { return m(i, j); });
    for (Size j = 0; j < m.cols; ++j) out(i, j) = total == 0.0f ? 0.0f : m(i, j) * (1.0f / total);
  }
}

// Each column summed in row order, times 1 / rows; and each column's maximum, where +0 is more than -0 and NaN more than all.
inline void mean(Input m, Output out) noexcept {
  for (Size j = 0; j < m.cols; ++j) {
    float total = m(0, j);
    for (Size i = 1; i < m.rows; ++i) total += m(i, j);
    out(0, j) = total * (1.0f / static_cast<float>(m.rows));
  }
}
inline void largest(Input m, Output out) noexcept {
  const auto is_less = [](float a, float b) { return a < b || b != b || (a == b && a == 0.0f && kernel::bits_of(a) != 0); };
  for (Size j = 0; j < m.cols; ++j) {
    out(0, j) = m(0, j);
    for (Size i = 1; i < m.rows; ++i)
      if (out(0, j) == out(0, j) && is_less(out(0, j), m(i, j))) out(0, j) = m(i, j);
  }
}

inline void standardize(Input x, const float* mean, const float* inverse_deviation, Output out) noexcept {
  for (Size i = 0; i < x.rows; ++i)
    for (Size j = 0; j < x.cols; ++j) out(i, j) = product(x(i, j) - mean[j], inverse_deviation[j]);
}

// Softmax of one row over the scores j with takes_part(j); all other weights are 0. A scale below 2^-126 counts as 0, which makes all
// finite scores equal.
inline void softmax_row(Input scores, float scale, auto takes_part, Output weights) noexcept {
  const bool has_scale = scale >= 0x1p-126f;
  const auto score = [&](Size j) { return has_scale || scores(0, j) - scores(0, j) != 0.0f ? scores(0, j) : 0.0f; };
  if (!has_scale) scale = 1.0f;
  float maximum = -kernel::infinity;
  for (Size j = 0; j < scores.cols; ++j)
    if (takes_part(j) && score(j) > maximum) maximum = score(j);
  if (maximum == -kernel::infinity) maximum = 0.0f;
  for (Size j = 0; j < scores.cols; ++j) {
    const float t = takes_part(j) ? product(score(j) - maximum, scale) : -kernel::infinity;
    weights(0, j) = t < -69.0f ? 0.0f : exp(t);
  }
  const float total = sum(scores.cols, [&](Size j) { return weights(0, j); });
  for (Size j = 0; j < scores.cols; ++j)
    if (takes_part(j)) weights(0, j) = total == 0.0f ? 0.0f : weights(0, j) * (1.0f / total);
}
inline void softmax(Input scores, float scale, Output weights) noexcept {
  for (Size i = 0; i < scores.rows; ++i)
    softmax_row(
        scores.rows_from(i), scale, [](Size) { return true; }, weights.rows_from(i));
}

// A norm's weight and bias; without a bias it is an RmsNorm.
struct Norm {
  const float *weight, *bias;
  float epsilon;
};

// One row: x[j] becomes (x[j] - mean) * scale; returns scale.
inline float normalize_row(Input x, const Norm& by, Output out) noexcept {
  const float per_feature = 1.0f / static_cast<float>(x.cols);
  const float mean = by.bias == nullptr ? 0.0f : product(sum(x.cols, [&](Size j) { return x(0, j); }), per_feature);
  for (Size j = 0; j < x.cols; ++j) out(0, j) = by.bias == nullptr ? x(0, j) : x(0, j) - mean;
  const float scale = 1.0f / sqrt(fma(sum_of_squares(x.cols, [&](Size j) { return out(0, j); }), per_feature, by.epsilon));
  for (Size j = 0; j < x.cols; ++j) out(0, j) = product(out(0, j), scale);
  return scale;
}
inline void norm(Input x, const Norm& by, Output out) noexcept {
  for (Size i = 0; i < x.rows; ++i) {
    normalize_row(x.rows_from(i), by, out.rows_from(i));
    for (Size j = 0; j < x.cols; ++j)
      out(i, j) = by.bias == nullptr ? product(out(i, j), by.weight[j]) : fma(out(i, j), by.weight[j], by.bias[j]);
  }
}

// Activates one number; unit/activation.cpp compares these functions with exact values.
inline float activation(Activation which, float x) noexcept {
  float y = 0.0f;
  kernel::activate_row<port::scalar>(which, &x, &y, 1);
  return y;
}

// --- Attention ---

// Query i attends to keys 0 .. i + diagonal, except those that `flags` or `addends` mask. Addends are added to the scaled scores; -infinity
// masks. Both have a row for each query, or one row for all with a row_step of 0.
struct Mask {
  std::ptrdiff_t diagonal = PTRDIFF_MAX / 2;
  View<const bool> flags = {};
  bool keeps = false;  // what true in `flags` means: attend, or masked
  Input addends = {};
  bool is_causal = false;  // the layer's own mask
  Size window = 0;         // of the layer; 0: no window
  Size int8_context = 0;   // how many keys and values of int8 the cache of the layer has; 0: they are floats

  constexpr bool attends(Size i, Size j) const noexcept {
    const std::ptrdiff_t distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
    if (distance > diagonal || (is_causal && distance > 0)) return false;
    if (window != 0 && -distance >= static_cast<std::ptrdiff_t>(window)) return false;
    if (flags.first != nullptr) return flags(i, j) == keeps;
    return addends.first == nullptr || addends(i, j) != -kernel::infinity;
  }
};

// Returns 1 / sqrt(n), rounded once: a double has more digits than this needs.
inline float inverse_sqrt(Size n) noexcept {
  double root = 1;
  for (int i = 0; i < 60; ++i) root = (root + static_cast<double>(n) / root) / 2;
  return static_cast<float>(1 / root);
}

// Applies a factor of dropout. A dropped element becomes +0, even if it is NaN.
inline float drop(float x, float factor) noexcept { return factor == 0.0f ? 0.0f : x * factor; }

// Returns 2^(s / 8 - 25); scale s of an int8 cache is (8 + s % 8) times that.
inline double unit_of(Size s) noexcept {
  double unit = 0x1p-25;
  for (; s >= 8; s -= 8) unit *= 2;
  return unit;
}

// Quantizes a row for the cache. Returns the number of its scale: the least at which all integers are below 127.5, or 255 if none fits.
[[gnu::noinline]] inline Size quantize_for_cache(Input x, Output integers) noexcept {
  const auto magnitude = [&](Size k) { return static_cast<double>(x(0, k) < 0.0f ? -x(0, k) : x(0, k)); };
  Size s = 0;
  for (Size k = 0; k < x.cols; ++k)
    while (s < 255 && !(2 * magnitude(k) < static_cast<double>(255 * (8 + s % 8)) * unit_of(s))) ++s;
  for (Size k = 0; k < x.cols; ++k) {
    const auto sixteenths = s == 255 ? 0 : static_cast<std::int64_t>(magnitude(k) * 16 / unit_of(s));
    const std::int64_t reciprocal = (1 << 17) / static_cast<std::int64_t>(8 + s % 8), steps = (sixteenths * reciprocal + (1 << 20)) >> 21;
    integers(0, k) = static_cast<float>(x(0, k) < 0.0f ? -steps : steps);
  }
  return s;
}

// 32767 * 2^(-i / 32), rounded; the last is half the first, rounded down.
inline constexpr auto powers_of_two = [] {
  std::array<std::int64_t, 33> powers{};
  double root = 2, power = 32767;
  for (int halving = 0; halving < 5; ++halving) {
    const double square = root;
    for (int i = 0; i < 60; ++i) root = (root + square / root) / 2;
  }
  for (std::int64_t& rounded : powers) {
    rounded = nearest(power);
    power /= root;
  }
  powers[32] = powers[0] / 2;
  return powers;
}();

// Returns 32767 * 2^(-below / 1024), interpolated; 0 from 2^-16 on.
inline std::int64_t power_of_two(std::int64_t below) noexcept {
  if (below >= 16 * 1024) return 0;
  const auto i = static_cast<Size>(below % 1024 / 32);
  return (powers_of_two[i] - (powers_of_two[i] - powers_of_two[i + 1]) * (below % 32) / 32) >> (below / 1024);
}

// The score of a query (integers times a step) and a key of scale s, as log2 in 1024ths. The sum's low bits are rounded away so that 15
// bits remain.
[[gnu::noinline]] inline std::int64_t score_of(Input integers, float step, Input key, Size s, float scale) noexcept {
  const auto dim = static_cast<std::int64_t>(key.cols), most = largest_integer(key.cols) * 127 * dim;
  std::int64_t unit = 1, sum = 0;
  while (most / unit > 32767) unit *= 2;
  for (Size k = 0; k < key.cols; ++k) sum += static_cast<std::int64_t>(integers(0, k)) * static_cast<std::int64_t>(key(0, k));
  const float of_one = product(0x1.715476p+11f, static_cast<float>(8 + s % 8));  // log2(e) * 2^11
  const auto multiplier = static_cast<std::int64_t>(fma(scale, of_one, 0.5f));
  const std::int64_t scaled = (sum + unit / 2 - ((sum + unit / 2) % unit + unit) % unit) * multiplier;
  const double score = static_cast<double>(scaled) * static_cast<double>(step) * unit_of(s) / 2, limit = 0x5fffffff;
  return rounded_down(score > limit ? limit : score < -limit ? -limit : score);
}

// An addend of a mask in 1024ths of a power of two; at most 363,408 counts.
inline std::int64_t integer_of_addend(float addend) noexcept {
  const float kept = addend > 363408.0f ? 363408.0f : addend < -363408.0f ? -363408.0f : addend;
  return addend - addend == 0.0f ? static_cast<std::int64_t>(fma(kept, 0x1.715476p+10f, kept < 0.0f ? -0.5f : 0.5f)) : 0;
}

// Attention over keys and values of int8. A weight is a power of two times its value's scale, in 16ths of the unit of the largest scale;
// what dropout leaves is scaled with the sum.
[[gnu::noinline]] inline void attention_in_integers(Input query, Input key, Input value, const Mask& mask, Output shares, Output out,
                                                    Input factors) noexcept {
  const Size dim = query.cols, tokens = key.rows;
  const Matrix keys(tokens, dim), values(tokens, dim), scales(tokens, 2), integers(1, dim), weights(1, tokens);
  for (Size j = 0; j < tokens; ++j) {
    (*scales)(j, 0) = static_cast<float>(quantize_for_cache(key.rows_from(j), (*keys).rows_from(j)));
    (*scales)(j, 1) = static_cast<float>(quantize_for_cache(value.rows_from(j), (*values).rows_from(j)));
  }
  const float scale = inverse_sqrt(dim);
  std::int64_t power_unit = 1;
  while (32767 / power_unit * 127 * static_cast<std::int64_t>(mask.int8_context) > INT32_MAX) power_unit *= 2;
  for (Size i = 0; i < query.rows; ++i) {
    const float step = quantize(query.rows_from(i), integers, largest_integer(dim));
    const auto addend = [&](Size j) { return mask.addends.first == nullptr ? 0.0f : mask.addends(i, j); };
    const auto score = [&](Size j) {
      return score_of(integers, step, (*keys).rows_from(j), static_cast<Size>((*scales)(j, 0)), scale) + integer_of_addend(addend(j));
    };
    bool is_nan = !(step - step == 0.0f), is_alone = true;
    for (Size j = 0; j < tokens; ++j) {
      if (!mask.attends(i, j)) continue;
      is_nan = is_nan || (*scales)(j, 0) == 255.0f || (*scales)(j, 1) == 255.0f || !(addend(j) - addend(j) == 0.0f);
      is_alone = false;
    }
    const auto attends = [&](Size j) { return !is_nan && mask.attends(i, j); };
    std::int64_t largest_score = INT64_MIN, powers = 0;
    Size largest_scale = 0;
    for (Size j = 0; j < tokens; ++j) {
      if (!attends(j)) continue;
      largest_score = std::max(largest_score, score(j));
      largest_scale = std::max(largest_scale, static_cast<Size>((*scales)(j, 1)));
    }
    const auto power = [&](Size j) { return power_of_two(largest_score - score(j)) / power_unit; };
    for (Size j = 0; j < tokens; ++j) {
      (*weights)(0, j) = 0.0f;
      if (!attends(j)) continue;
      const auto s = static_cast<Size>((*scales)(j, 1));
      const std::int64_t unit = 16ll << (largest_scale / 8 - s / 8);
      (*weights)(0, j) = static_cast<float>((power(j) * static_cast<std::int64_t>(8 + s % 8) + unit / 2) / unit);
      powers += power(j);
    }
    const float share = powers == 0 ? 0.0f : 1.0f / static_cast<float>(powers);
    for (Size j = 0; j < tokens && shares.first != nullptr; ++j)
      shares(i, j) = !mask.attends(i, j) ? 0.0f : is_nan ? __builtin_nanf("") : product(static_cast<float>(power(j)), share);
    float factor = 1.0f;
    for (Size j = 0; j < tokens && factors.first != nullptr; ++j) {
      if (factors(i, j) == 0.0f)
        (*weights)(0, j) = 0.0f;
      else
        factor = factors(i, j);
    }
    for (Size c = 0; c < dim; ++c) {
      std::int64_t sum = 0;
      for (Size j = 0; j < tokens; ++j) sum += static_cast<std::int64_t>((*weights)(0, j)) * static_cast<std::int64_t>((*values)(j, c));
      const float unit = product(product(share, factor), static_cast<float>(16 * unit_of(largest_scale)));
      out(i, c) = is_alone ? 0.0f : is_nan ? __builtin_nanf("") : product(static_cast<float>(sum), unit);
    }
  }
}

// Writes the weights [tokens, source tokens] before dropout, which multiplies them by `factors`. weights and factors may be empty.
inline void attention(Input query, Input key, Input value, const Mask& mask, Output weights, Output out, Input factors = {}) noexcept {
  if (mask.int8_context != 0) return attention_in_integers(query, key, value, mask, weights, out, factors);
  const float scale = inverse_sqrt(query.cols);
  const bool adds = mask.addends.first != nullptr;
  const Matrix one_row(2, key.rows);
  for (Size i = 0; i < query.rows; ++i) {
    const Output scores = (*one_row).first_rows(1), row = weights.first == nullptr ? (*one_row).rows_from(1) : weights.rows_from(i);
    const auto attends = [&](Size j) { return mask.attends(i, j); };
    matmul(query.rows_from(i).first_rows(1), key.transposed(), scores);
    for (Size j = 0; adds && j < key.rows; ++j) scores(0, j) = fma(scores(0, j), scale, mask.addends(i, j));
    softmax_row(scores, adds ? 1.0f : scale, attends, row);
    for (Size c = 0; c < value.cols; ++c) {
      float sum = 0.0f;
      for (Size j = 0; j < key.rows; ++j)
        if (attends(j)) sum = fma(factors.first == nullptr ? row(0, j) : drop(row(0, j), factors(i, j)), value(j, c), sum);
      out(i, c) = sum;
    }
  }
}

// --- Layers ---

struct Linear {
  Input weight = {};  // [in, out]
  const float* bias = nullptr;
  View<const std::uint8_t> codes = {};  // int8 codes in the place of weight: [out, in]
  const float* scales = nullptr;

  constexpr Size outputs() const noexcept { return weight.cols + codes.rows; }  // 0: there is no such layer
  void operator()(Input x, Output out) const noexcept {
    if (codes.rows == 0)
      matmul(x, weight, out, bias);
    else
      matmul(x, codes, scales, out, bias);
  }
};

// A convolution over tokens: each row is a window of `kernel` tokens, zeros outside of x, and goes through a Linear.
struct Convolution {
  Linear of_rows;
  Size kernel, stride, padding;

  void operator()(Input x, Output out) const noexcept {
    const Matrix rows(out.rows, kernel * x.cols);
    for (Size i = 0; i < out.rows; ++i)
      for (Size j = 0; j < kernel * x.cols; ++j) {
        const Size token = i * stride + j / x.cols;
        (*rows)(i, j) = token < padding || token - padding >= x.rows ? 0.0f : x(token - padding, j % x.cols);
      }
    of_rows(rows, out);
  }
};

// Cosines and sines [position, pair] of rotary positions; unit/embedding.cpp compares them with libm.
struct Rotation {
  const float *cosines = nullptr, *sines = nullptr;
  bool is_interleaved = false;
};

// Calls turn(a, b, cosine, sine) for each pair of features.
inline void for_each_pair(const Rotation& rotation, Size head_dim, Output m, auto turn) noexcept {
  const Size pairs = rotation.cosines == nullptr ? 0 : head_dim / 2;
  for (Size i = 0; i < m.rows; ++i)
    for (Size head = 0; head < m.cols; head += head_dim)
      for (Size pair = 0; pair < pairs; ++pair)
        turn(m(i, head + (rotation.is_interleaved ? 2 * pair : pair)), m(i, head + (rotation.is_interleaved ? 2 * pair + 1 : pair + pairs)),
             rotation.cosines[i * pairs + pair], rotation.sines[i * pairs + pair]);
}
inline void rotate(const Rotation& rotation, Size head_dim, Output m) noexcept {
  for_each_pair(rotation, head_dim, m, [](float& a, float& b, float cosine, float sine) {
    const float x = a;
    a = fma(x, cosine, -product(b, sine));
    b = fma(x, sine, product(b, cosine));
  });
}

struct Layer {
  Size num_heads = 1, num_kv_heads = 1;
  Linear query = {}, key = {}, value = {}, out_proj = {};
  Rotation rotation = {};
};

// The factors of dropout for weights [head * tokens + i, j] and for outputs; empty without dropout.
struct Factors {
  Input weights = {}, outputs = {};
};

// Projects queries, keys and values, attends in each head, and projects the output. weights: [head * tokens + i, j].
inline void forward(const Layer& layer, Input query_input, Input key_input, Input value_input, const Mask& mask, Output out,
                    Output weights = {}, const Factors& factors = {}) noexcept {
  const Size width = layer.query.outputs(), kv_width = layer.key.outputs(), head_dim = width / layer.num_heads;
  const Matrix queries(query_input.rows, width), keys(key_input.rows, kv_width), values(key_input.rows, kv_width);
  const Matrix contexts(query_input.rows, width);
  layer.query(query_input, queries);
  layer.key(key_input, keys);
  layer.value(value_input, values);
  rotate(layer.rotation, head_dim, queries);
  rotate(layer.rotation, head_dim, keys);
  const auto rows_of_head = [&](auto m, Size head) {
    if (m.first != nullptr) m.first += head * query_input.rows * m.row_step;
    return m;
  };
  for (Size head = 0; head < layer.num_heads; ++head) {
    const Size first = head * head_dim, shared = head / (layer.num_heads / layer.num_kv_heads) * head_dim;
    attention((*queries).columns(first, head_dim), (*keys).columns(shared, head_dim), (*values).columns(shared, head_dim), mask,
              rows_of_head(weights, head), (*contexts).columns(first, head_dim), rows_of_head(factors.weights, head));
  }
  if (layer.out_proj.outputs() != 0)
    layer.out_proj(contexts, out);
  else
    copy(contexts, out);
  for (Size i = 0; i < out.rows && factors.outputs.first != nullptr; ++i)
    for (Size j = 0; j < out.cols; ++j) out(i, j) = drop(out(i, j), factors.outputs(i, j));
}

// Returns activation(x) / x in units of 2^-15, for |x| = index / 16.
inline std::int64_t share(Activation which, std::int64_t index, bool is_negative) noexcept {
  const float size = static_cast<float>(index) * 0x1p-4f + 0x1p-20f, x = is_negative ? -size : size;
  return (static_cast<std::int64_t>(activation(which, x) / x * 0x1p16f) + 1) / 2;
}

// Quantizes activation(gates), times x if given, and returns the step. Both factors are integers of 14 bits; activation(x) / x is
// interpolated, up to |x| = 12. Products drop low bits: they have one bit less than inputs may have.
inline float activate_in_integers(Activation which, Input gates, Input x, Output integers) noexcept {
  const bool is_gated = x.first != nullptr;
  const Matrix rows(2, gates.cols);
  const Output of_gate = (*rows).first_rows(1), of_x = (*rows).rows_from(1);
  const float step = quantize(gates, of_gate, (1 << 14) - 1), other = is_gated ? quantize(x, of_x, (1 << 14) - 1) : 0x1p-14f;
  const double product_step = static_cast<double>(step) * static_cast<double>(other) * 0.5;
  if (!(product_step > 0)) {
    for (Size j = 0; j < gates.cols; ++j) integers(0, j) = 0.0f;
    return static_cast<float>(product_step);
  }
  const auto product_of = [&](Size j) -> std::int64_t {
    const auto n = static_cast<std::int64_t>(of_gate(0, j)), size = n < 0 ? -n : n;
    const double scaled = static_cast<double>(size) * static_cast<double>(step) * 1024;
    const std::int64_t z = scaled < 12 * 1024 ? static_cast<std::int64_t>(scaled) : 12 * 1024;
    const std::int64_t low = share(which, z / 64, n < 0), high = share(which, z / 64 + 1, n < 0);
    const std::int64_t shared = n * (low + ((high - low) * (z % 64) >> 6));
    return is_gated ? ((shared + (1 << 13)) >> 14) * static_cast<std::int64_t>(of_x(0, j)) : shared;
  };
  std::int64_t below = 1;  // a power of two above every product
  for (Size j = 0; j < gates.cols; ++j)
    while (product_of(j) >= below || product_of(j) < -below) below *= 2;
  std::int64_t unit = 1;
  while (below / unit > (largest_integer(gates.cols) + 1) / 2) unit *= 2;
  for (Size j = 0; j < gates.cols; ++j) {
    const std::int64_t sum = product_of(j) + unit / 2;
    integers(0, j) = static_cast<float>((sum - (sum % unit + unit) % unit) / unit);
  }
  return below == 1 ? 0.0f : static_cast<float>(product_step * static_cast<double>(unit));
}

struct Hidden {
  Linear up = {}, gate = {}, down = {};
  Activation activation = Activation::relu;
};

inline void forward(const Hidden& layer, Input x, Output out) noexcept {
  const Size width = layer.up.outputs();
  const Matrix features(x.rows, width), gates(x.rows, width);
  const bool is_gated = layer.gate.outputs() != 0;
  layer.up(x, features);
  (is_gated ? layer.gate : layer.up)(x, gates);
  if (layer.down.codes.rows != 0) {
    const Matrix integers(1, width);
    for (Size i = 0; i < x.rows; ++i) {
      const float step = activate_in_integers(layer.activation, (*gates).rows_from(i).first_rows(1),
                                              is_gated ? Input((*features).rows_from(i).first_rows(1)) : Input{}, integers);
      multiply(integers, step, layer.down.codes, layer.down.scales, out.rows_from(i), layer.down.bias);
    }
    return;
  }
  for (Size i = 0; i < x.rows; ++i)
    for (Size j = 0; j < width; ++j) {
      const float active = activation(layer.activation, (*gates)(i, j));
      (*features)(i, j) = is_gated ? product((*features)(i, j), active) : active;
    }
  layer.down(features, out);
}

struct Block {
  Norm attention_norm;
  Layer attention;
  Norm feed_forward_norm;
  Hidden feed_forward;
  bool norm_first;
};

// Replaces x by the block's output.
inline void forward(const Block& block, const Mask& mask, Output x) noexcept {
  const Matrix normed(x.rows, x.cols), change(x.rows, x.cols);
  const auto with_residual = [&](const Norm& by, auto compute) {
    if (block.norm_first)
      norm(x, by, normed);
    else
      copy(x, normed);
    compute();
    add(x, change, x);
    if (!block.norm_first) norm(x, by, x);
  };
  with_residual(block.attention_norm, [&] { forward(block.attention, normed, normed, normed, mask, change); });
  with_residual(block.feed_forward_norm, [&] { forward(block.feed_forward, normed, change); });
}

// --- Dropout ---

// Computes the factors of the next `count` elements. With the Mersenne twister they are PyTorch's: 53 bits of two words per element are
// compared with a threshold. With Philox each call has its own random stream: element i takes word i % 4 of block i / 4.
template <class Generator>
void dropout_factors(double rate, Generator& generator, Size count, float* factors) noexcept {
  constexpr bool is_mersenne = std::is_same_v<Generator, Mt19937>;
  const double keeps = (1 - rate) * (is_mersenne ? 0x1p53 : 0x1p32);
  const auto rounded_down = static_cast<std::uint64_t>(keeps);
  const std::uint64_t kept_below = rounded_down + (static_cast<double>(rounded_down) != keeps);
  const bool draws = rate != 0 && rate != 1;
  decltype(auto) stream = [&]() -> decltype(auto) {
    if constexpr (is_mersenne)
      return (generator);
    else
      return draws ? generator.take_stream() : generator;
  }();
  const auto bits = [&](Size i) -> std::uint64_t {
    if constexpr (is_mersenne) {
      const std::uint64_t high = stream();
      return (high << 32 | stream()) & 0x1fffffffffffff;
    } else {
      return stream.block(i / 4)[i % 4];
    }
  };
  for (Size i = 0; i < count; ++i)
    factors[i] = draws ? (bits(i) < kept_below ? 1.0f / static_cast<float>(1 - rate) : 0.0f) : rate == 1 ? 0.0f : 1.0f;
}

}  // namespace tinyattn::test::plain
