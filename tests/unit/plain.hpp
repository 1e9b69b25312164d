// SPDX-License-Identifier: MIT
//
// The library's arithmetic as it is stated, in plain loops: chains of fma, sums in sixteen lanes, softmax with a scale. No blocks, no
// vectors, no skipping. What a kernel computes is compared with this bit for bit, between guards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "support/check.hpp"
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

// The columns first .. first + Count - 1, copied.
template <std::size_t Count, std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Rows, Count> plain_columns(const Matrix<float, Rows, Cols>& m, std::size_t first) noexcept {
  Matrix<float, Rows, Count> out{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Count; ++j) out(i, j) = m(i, first + j);
  return out;
}

template <std::size_t Count, std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Count, Cols> plain_rows(const Matrix<float, Rows, Cols>& m, std::size_t first) noexcept {
  Matrix<float, Count, Cols> out{};
  for (std::size_t i = 0; i < Count; ++i)
    for (std::size_t j = 0; j < Cols; ++j) out(i, j) = m(first + i, j);
  return out;
}

// Each element is a chain: it starts at `start` and takes k in rising order, each step rounded once.
template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> plain_matmul(const Matrix<float, Rows, Inner>& a, const Matrix<float, Inner, Cols>& b,
                                                 const Vector<float, Cols>& start = {}) noexcept {
  Matrix<float, Rows, Cols> out{};
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) {
      float sum = start(j);
      for (std::size_t k = 0; k < Inner; ++k) sum = fma(a(i, k), b(k, j), sum);
      out(i, j) = sum;
    }
  }
  return out;
}

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> plain_matmul_transposed(const Matrix<float, Rows, Inner>& a,
                                                            const Matrix<float, Cols, Inner>& b) noexcept {
  Matrix<float, Inner, Cols> upright{};
  for (std::size_t k = 0; k < Inner; ++k)
    for (std::size_t j = 0; j < Cols; ++j) upright(k, j) = b(j, k);
  return plain_matmul(a, upright);
}

// Element j goes into lane j % 16; lanes fold by 8, 4, 2, 1.
constexpr float plain_sum(std::size_t count, auto element) noexcept {
  std::array<float, 16> lanes{};
  for (std::size_t j = 0; j < count; ++j) lanes[j % 16] += element(j);
  for (std::size_t half = 8; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

// Row by row over the scores that `sees(i, j)` lets take part; all others get the weight zero.
template <std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> plain_softmax(const Matrix<float, Rows, Cols>& scores, float scale, auto sees) noexcept {
  Matrix<float, Rows, Cols> weights{};
  for (std::size_t i = 0; i < Rows; ++i) {
    float largest = -infinity;
    for (std::size_t j = 0; j < Cols; ++j)
      if (sees(i, j) && scores(i, j) > largest) largest = scores(i, j);
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
  constexpr float scales[] = {1.0f, 0.70710678119f, 0.57735026919f, 0.5f, 0.44721359550f, 0.40824829046f, 0.37796447301f, 0.35355339059f};
  return scales[n - 1];
}

template <class Weights, class Output>
struct Attended {
  Weights weights;
  Output out;
};

constexpr auto plain_attention(const auto& query, const auto& key, const auto& value, auto sees) noexcept {
  auto weights = plain_softmax(plain_matmul_transposed(query, key), plain_scale(query.extent(1)), sees);
  auto out = plain_matmul(weights, value);
  return Attended<decltype(weights), decltype(out)>{weights, out};
}

// With a mask whose addends go to the scaled scores; -infinity hides a key.
template <std::size_t Tokens, std::size_t SourceTokens>
constexpr auto plain_attention(const auto& query, const auto& key, const auto& value,
                               const Matrix<float, Tokens, SourceTokens>& addend) noexcept {
  auto scores = plain_matmul_transposed(query, key);
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores.data()[i] = fma(scores.data()[i], plain_scale(query.extent(1)), addend.data()[i] == -infinity ? 0.0f : addend.data()[i]);
  auto weights = plain_softmax(scores, 1.0f, [&](std::size_t i, std::size_t j) { return addend(i, j) != -infinity; });
  auto out = plain_matmul(weights, value);
  return Attended<decltype(weights), decltype(out)>{weights, out};
}

// A tensor, or a workspace, between two rows of a value that nobody may touch; a tensor is full of it too.
template <class Shape>
struct Guarded {
  using Guard = std::array<float, 32>;
  static constexpr float untouched = 12345.678f;
  static constexpr Guard guard = [] {
    Guard result{};
    result.fill(untouched);
    return result;
  }();

  Guard before = guard;
  Shape tensor{};
  Guard after = guard;

  constexpr Guarded() noexcept {
    if constexpr (requires { tensor.elements; })
      for (float& element : tensor.elements) element = untouched;
  }

  constexpr bool guards_hold() const noexcept { return before == guard && after == guard; }
};

// `write(out)` makes an output `expected`, and touches nothing beside it.
template <class Expected>
constexpr void check_output(Check& check, const Expected& expected, auto write, int line = __builtin_LINE()) {
  Guarded<Expected> out;
  write(out.tensor);
  check.same_bits(out.tensor, expected, line);
  check.that(out.guards_hold(), line);
}

// `write(out, weights)` makes both outputs what is expected, and touches nothing beside them.
template <class Weights, class Output>
constexpr void check_outputs(Check& check, const Attended<Weights, Output>& expected, auto write, int line = __builtin_LINE()) {
  Guarded<Weights> weights;
  check_output(
      check, expected.out, [&](auto& out) { write(out, weights.tensor); }, line);
  check.same_bits(weights.tensor, expected.weights, line);
  check.that(weights.guards_hold(), line);
}

// `write(both)` makes `expected` of an output that is the input `in`, too.
template <class Expected>
constexpr void check_in_place(Check& check, const Expected& expected, const Expected& in, auto write, int line = __builtin_LINE()) {
  Expected both = hidden(in);
  write(both);
  check.same_bits(both, expected, line);
}

}  // namespace tinyattn::test
