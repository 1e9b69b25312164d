// SPDX-License-Identifier: MIT
//
// The library's arithmetic as it is stated, in plain loops: chains of fma, sums in sixteen lanes, softmax with a scale. No blocks, no
// vectors, no skipping. What a kernel computes is compared with this bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tinyattn/math.hpp"
#include "tinyattn/tensor.hpp"

namespace tinyattn::test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

// Numbers in [-1, 1) from a seed, the same on every machine and owing nothing to the library's generators.
template <class Shape>
constexpr Shape numbers(std::uint32_t seed) noexcept {
  Shape result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    result.data()[i] = static_cast<float>(static_cast<std::int32_t>(seed >> 8) - 0x800000) * 0x1p-23f;
  }
  return result;
}

// One output element: starts at `start` and takes k in rising order, each step rounded once.
constexpr float chain(float start, std::size_t count, auto left, auto right) noexcept {
  for (std::size_t k = 0; k < count; ++k) start = fma(left(k), right(k), start);
  return start;
}

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> plain_matmul(const Matrix<float, Rows, Inner>& a, const Matrix<float, Inner, Cols>& b,
                                                 const Vector<float, Cols>& start = {}) noexcept {
  Matrix<float, Rows, Cols> out{};
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) {
      out(i, j) = chain(
          start(j), Inner, [&](std::size_t k) { return a(i, k); }, [&](std::size_t k) { return b(k, j); });
    }
  }
  return out;
}

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> plain_matmul_transposed(const Matrix<float, Rows, Inner>& a,
                                                            const Matrix<float, Cols, Inner>& b) noexcept {
  Matrix<float, Rows, Cols> out{};
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) {
      out(i, j) = chain(
          0.0f, Inner, [&](std::size_t k) { return a(i, k); }, [&](std::size_t k) { return b(j, k); });
    }
  }
  return out;
}

// Element j goes into lane j % 16; lanes fold by 8, 4, 2, 1.
constexpr float plain_sum(std::size_t count, auto element) noexcept {
  std::array<float, 16> lanes{};
  for (std::size_t j = 0; j < count; ++j) lanes[j % 16] += element(j);
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// Row by row over the scores that `sees(i, j)` lets take part; all others get the weight zero.
template <std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> plain_softmax(const Matrix<float, Rows, Cols>& scores, float scale, auto sees) noexcept {
  Matrix<float, Rows, Cols> weights{};
  for (std::size_t i = 0; i < Rows; ++i) {
    float largest = -infinity;
    for (std::size_t j = 0; j < Cols; ++j) {
      if (sees(i, j) && scores(i, j) > largest) largest = scores(i, j);
    }
    if (largest == -infinity) largest = 0.0f;
    for (std::size_t j = 0; j < Cols; ++j) {
      const float t = (scores(i, j) - largest) * scale;
      weights(i, j) = !sees(i, j) || t < -69.0f ? 0.0f : exp(t);
    }
    const float sum = plain_sum(Cols, [&](std::size_t j) { return weights(i, j); });
    for (std::size_t j = 0; j < Cols; ++j) weights(i, j) = sum == 0.0f ? 0.0f : weights(i, j) * (1.0f / sum);
  }
  return weights;
}

constexpr auto sees_everything = [](std::size_t, std::size_t) { return true; };
constexpr auto sees_the_past = [](std::size_t i, std::size_t j) { return j <= i; };

// 1 / sqrt(n) to more digits than a float has.
constexpr float plain_scale(std::size_t n) noexcept {
  constexpr std::array<float, 8> scales{1.0f,
                                        0.70710678118654752440f,
                                        0.57735026918962576451f,
                                        0.5f,
                                        0.44721359549995793928f,
                                        0.40824829046386301637f,
                                        0.37796447300922722721f,
                                        0.35355339059327376220f};
  return scales[n - 1];
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t ValueDim>
struct PlainAttention {
  Matrix<float, Tokens, SourceTokens> weights;
  Matrix<float, Tokens, ValueDim> context;
};

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
constexpr PlainAttention<Tokens, SourceTokens, ValueDim> plain_attention(const Matrix<float, Tokens, KeyDim>& query,
                                                                         const Matrix<float, SourceTokens, KeyDim>& key,
                                                                         const Matrix<float, SourceTokens, ValueDim>& value,
                                                                         auto sees) noexcept {
  const auto weights = plain_softmax(plain_matmul_transposed(query, key), plain_scale(KeyDim), sees);
  return {weights, plain_matmul(weights, value)};
}

// With a mask whose addends go to the scaled scores; -infinity hides a key.
template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
constexpr PlainAttention<Tokens, SourceTokens, ValueDim> plain_attention(const Matrix<float, Tokens, KeyDim>& query,
                                                                         const Matrix<float, SourceTokens, KeyDim>& key,
                                                                         const Matrix<float, SourceTokens, ValueDim>& value,
                                                                         const Matrix<float, Tokens, SourceTokens>& addend) noexcept {
  auto scores = plain_matmul_transposed(query, key);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores.data()[i] = fma(scores.data()[i], plain_scale(KeyDim), addend.data()[i] == -infinity ? 0.0f : addend.data()[i]);
  }
  const auto weights = plain_softmax(scores, 1.0f, [&](std::size_t i, std::size_t j) { return addend(i, j) != -infinity; });
  return {weights, plain_matmul(weights, value)};
}

// The columns first .. first + Count - 1, copied.
template <std::size_t Count, std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Rows, Count> plain_columns(const Matrix<float, Rows, Cols>& m, std::size_t first) noexcept {
  Matrix<float, Rows, Count> out{};
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Count; ++j) out(i, j) = m(i, first + j);
  }
  return out;
}

template <std::size_t Count, std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Count, Cols> plain_rows(const Matrix<float, Rows, Cols>& m, std::size_t first) noexcept {
  Matrix<float, Count, Cols> out{};
  for (std::size_t i = 0; i < Count; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) out(i, j) = m(first + i, j);
  }
  return out;
}

// A tensor, or a workspace, between two rows of a value that nobody may touch; a tensor is full of it too.
template <class Shape>
struct Guarded {
  static constexpr float untouched = 12345.678f;

  std::array<float, 32> before{};
  Shape tensor{};
  std::array<float, 32> after{};

  constexpr Guarded() noexcept {
    for (float& element : before) element = untouched;
    for (float& element : after) element = untouched;
    if constexpr (requires { tensor.elements; }) {
      for (float& element : tensor.elements) element = untouched;
    }
  }

  constexpr bool guards_hold() const noexcept {
    for (float element : before) {
      if (element != untouched) return false;
    }
    for (float element : after) {
      if (element != untouched) return false;
    }
    return true;
  }
};

}  // namespace tinyattn::test
