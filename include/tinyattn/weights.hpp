// SPDX-License-Identifier: MIT
//
// Kinds of weights: floats, or integers of eight bits with a scale for each output.
#pragma once

#include "tinyattn/kernel/int8/quantize.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// The weights of `Out` outputs of `In` inputs each, PyTorch's [out, in]. Weight (o, i) is
// (code[o * row_size + i] - 128) * scale[o]. quantize computes it from floats.
template <std::size_t In, std::size_t Out>
struct Int8Matrix {
  static_assert(In <= kernel::most_inputs,
                "a layer with int8 weights has at most 66,311 inputs: the sums have 32 bits");

  static constexpr std::size_t row_size = kernel::row_size(In);  // In, rounded up to 16s

  // Weights + 128, a row for each output; the rest of a row is 128.
  alignas(4) std::uint8_t code[Out * row_size];
  float scale[Out];  // of a row of codes; positive, or NaN for an output that is NaN

  // The number of weights.
  static constexpr std::size_t size() noexcept { return In * Out; }

  friend constexpr bool operator==(const Int8Matrix&, const Int8Matrix&) = default;
};

namespace detail {

// The weights of `Out` outputs of `In` inputs each: of int8 [Out, In], of floats [In, Out].
template <Weights weights, std::size_t In, std::size_t Out>
using WeightMatrix =
    std::conditional_t<weights == Weights::int8, Int8Matrix<In, Out>, Matrix<float, In, Out>>;

// The weights of an embedding: a row of `Dim` features for each of `Count` tokens.
template <Weights weights, std::size_t Count, std::size_t Dim>
using WeightTable =
    std::conditional_t<weights == Weights::int8, Int8Matrix<Dim, Count>, Matrix<float, Count, Dim>>;

// Weights of floats are not quantized by an assignment: diagnoses a conversion to Other.
template <class Other>
constexpr Other diagnose_quantization() noexcept {
  static_assert(no_such_call<Other>,
                "weights of floats and int8 weights are different types: quantize(layer) makes "
                "int8 of floats");
  return {};
}

// The nearest integer, half to even, of a number below 2^51.
constexpr double rounded_to_integer(double x) noexcept {
  constexpr double magic = 3LL << 51;
  return x + magic - magic;
}

// Quantizes `Out` rows of `In` weights; weight_at(o, i) is a float. A row with a NaN or an infinity
// has the scale NaN, so that its output is NaN, and zeros.
template <std::size_t In, std::size_t Out>
constexpr Int8Matrix<In, Out> quantized(const auto& weight_at) noexcept {
  constexpr double most = 127;
  Int8Matrix<In, Out> matrix{};
  for (std::uint8_t& code : matrix.code) code = 128;
  for (std::size_t o = 0; o < Out; ++o) {
    std::uint32_t largest = 0;  // the bits of the largest magnitude
    for (std::size_t i = 0; i < In; ++i) {
      const std::uint32_t magnitude = kernel::bits_of(weight_at(o, i)) & 0x7fffffff;
      largest = largest < magnitude ? magnitude : largest;
    }
    if (largest >= kernel::infinity_bits) {
      matrix.scale[o] = kernel::float_of(kernel::nan_bits);
      continue;
    }
    const auto step = static_cast<float>(static_cast<double>(kernel::float_of(largest)) / most);
    const float scale = step == 0.0f ? 1.0f : step;
    matrix.scale[o] = scale;
    for (std::size_t i = 0; i < In; ++i) {
      const double steps =
          rounded_to_integer(static_cast<double>(weight_at(o, i)) / static_cast<double>(scale));
      const double clamped = steps < -most ? -most : steps > most ? most : steps;
      matrix.code[o * matrix.row_size + i] = static_cast<std::uint8_t>(most + 1 + clamped);
    }
  }
  return matrix;
}

// Makes int8 weights of floats, for `converted` of a layer or an embedding.
struct ToInt8 {
  static constexpr Weights weights = Weights::int8;

  template <std::size_t In, std::size_t Out>
  static constexpr auto matrix_of(const Matrix<float, In, Out>& weight) noexcept {
    return quantized<In, Out>([&](std::size_t o, std::size_t i) { return weight(i, o); });
  }
  template <std::size_t Count, std::size_t Dim>
  static constexpr auto table_of(const Matrix<float, Count, Dim>& weight) noexcept {
    return quantized<Dim, Count>([&](std::size_t i, std::size_t j) { return weight(i, j); });
  }
};

}  // namespace detail

// Returns a Linear, a convolution, a recurrent layer or an Embedding of floats with int8 weights:
// each output, or each token, has the scale max |w| / 127, or 1 if all its weights are 0, or NaN if
// one is NaN or infinite. The result is on the stack unless it is a constant.
template <class Layer>
requires requires(const Layer& layer) { converted(layer, detail::ToInt8{}); }
constexpr auto quantize(const Layer& layer) noexcept { return converted(layer, detail::ToInt8{}); }

TINYATTN_DIAGNOSTIC(class First, quantize(const First&, const auto&...),
                    "quantize takes (layer): a Linear, a Conv1d, a Gru, an Lstm or an Embedding "
                    "whose weights are floats")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
