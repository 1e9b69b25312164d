// SPDX-License-Identifier: MIT
//
// What tinyattn.h states, in plain loops over sizes that are known at run time.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tinyattn/math.hpp"
#include "tinyattn/tinyattn.h"

namespace tinyattn::test {

using Numbers = std::vector<float>;
inline constexpr float infinity = std::numeric_limits<float>::infinity();

struct Matrix {
  std::size_t rows, cols;
  Numbers elements = Numbers(rows * cols);
  bool is_there = true;

  float& operator()(std::size_t i, std::size_t j) { return elements[i * cols + j]; }
  float operator()(std::size_t i, std::size_t j) const { return elements[i * cols + j]; }
};

inline const Matrix absent{0, 0, {}, false};

inline Matrix transposed(const Matrix& m) {
  Matrix result{m.cols, m.rows};
  for (std::size_t i = 0; i < m.rows; ++i)
    for (std::size_t j = 0; j < m.cols; ++j) result(j, i) = m(i, j);
  return result;
}

inline Matrix columns(const Matrix& m, std::size_t first, std::size_t count) {
  Matrix result{m.rows, count};
  for (std::size_t i = 0; i < m.rows; ++i)
    for (std::size_t j = 0; j < count; ++j) result(i, j) = m(i, first + j);
  return result;
}

inline Matrix plain_product(const Matrix& a, const Matrix& b, const Matrix& bias = absent) {
  Matrix result{a.rows, b.cols};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.cols; ++j) {
      float sum = bias.is_there ? bias(0, j) : 0.0f;
      for (std::size_t k = 0; k < a.cols; ++k) sum = std::fma(a(i, k), b(k, j), sum);
      result(i, j) = sum;
    }
  return result;
}

// Element j goes into lane j % 16; lanes fold by 8, 4, 2, 1.
inline float plain_sum(const Numbers& row) {
  std::array<float, 16> lanes{};
  for (std::size_t j = 0; j < row.size(); ++j) lanes[j % 16] += row[j];
  for (std::size_t half = 8; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

// The weights of keys whose scores are `row`; those that are not seen weigh nothing.
inline Numbers plain_softmax(Numbers row, const std::vector<bool>& seen, float scale) {
  if (scale < std::numeric_limits<float>::min()) {
    for (float& score : row)
      if (std::isfinite(score)) score = 0.0f;
    scale = 1.0f;
  }
  float largest = -infinity;
  for (std::size_t j = 0; j < row.size(); ++j)
    if (seen[j] && row[j] > largest) largest = row[j];
  if (largest == -infinity) largest = 0.0f;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const float t = (row[j] - largest) * scale;
    row[j] = !seen[j] || t < -69.0f ? 0.0f : tinyattn::exp(t);
  }
  const float sum = plain_sum(row);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = !seen[j] || sum == 0.0f ? 0.0f : row[j] * (1.0f / sum);
  return row;
}

// A tinyattn_mask over `tokens` queries of `source_tokens` keys, and that of a causal layer. Flags are 0 or 1.
struct PlainMask {
  std::size_t tokens, source_tokens;
  int kind = TINYATTN_NO_MASK;
  bool one_row = false, layer_is_causal = false;
  Matrix elements = absent;

  bool has_flags() const { return kind == TINYATTN_BLOCK_MASK || kind == TINYATTN_KEEP_MASK; }
  float at(std::size_t i, std::size_t j) const { return elements(one_row ? 0 : i, j); }

  bool sees(std::size_t i, std::size_t j) const {
    if (layer_is_causal && j > i) return false;
    if (kind == TINYATTN_CAUSAL) return j <= i;
    if (kind == TINYATTN_CAUSAL_BOTTOM_RIGHT) return j + tokens <= i + source_tokens;
    if (has_flags()) return (at(i, j) != 0.0f) == (kind == TINYATTN_KEEP_MASK);
    return kind != TINYATTN_ADDITIVE_MASK || at(i, j) != -infinity;
  }
};

inline Matrix plain_attention(const Matrix& query, const Matrix& key, const Matrix& value, const PlainMask& mask) {
  const Matrix scores = plain_product(query, transposed(key));
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(query.cols)));
  const bool adds = mask.kind == TINYATTN_ADDITIVE_MASK;
  Matrix out{query.rows, value.cols};
  for (std::size_t i = 0; i < query.rows; ++i) {
    Numbers row(key.rows);
    std::vector<bool> seen(key.rows);
    for (std::size_t j = 0; j < key.rows; ++j) {
      row[j] = adds ? std::fma(scores(i, j), scale, mask.at(i, j)) : scores(i, j);
      seen[j] = mask.sees(i, j);
    }
    const Numbers weights = plain_softmax(row, seen, adds ? 1.0f : scale);
    for (std::size_t j = 0; j < key.rows; ++j)
      for (std::size_t c = 0; c < value.cols && seen[j]; ++c) out(i, c) = std::fma(weights[j], value(j, c), out(i, c));
  }
  return out;
}

struct PlainLinear {
  Matrix weight, bias;

  Matrix operator()(const Matrix& x) const { return plain_product(x, weight, bias); }
};

struct PlainLayer {
  std::size_t num_heads;
  PlainLinear query, key, value, out_proj;

  Matrix operator()(const std::array<Matrix, 3>& inputs, const PlainMask& mask) const {
    const Matrix queries = query(inputs[0]), keys = key(inputs[1]), values = value(inputs[2]);
    const std::size_t head_dim = queries.cols / num_heads;
    Matrix contexts{queries.rows, queries.cols};
    for (std::size_t first = 0; first < queries.cols; first += head_dim) {
      const auto head = [&](const Matrix& m) { return columns(m, first, head_dim); };
      const Matrix context = plain_attention(head(queries), head(keys), head(values), mask);
      for (std::size_t i = 0; i < queries.rows; ++i)
        for (std::size_t j = 0; j < head_dim; ++j) contexts(i, first + j) = context(i, j);
    }
    return out_proj.weight.is_there ? out_proj(contexts) : contexts;
  }
};

}  // namespace tinyattn::test
