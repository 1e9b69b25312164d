// SPDX-License-Identifier: MIT
//
// Layer and RMS normalization, over the last dimension.
#pragma once

#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/initialize.hpp"
#include "tinyattn/kernel/normalization.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// Which norm the blocks of a transformer have.
enum class Normalization : unsigned char {
  layer,  // LayerNorm
  rms     // RmsNorm
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// The epsilon of a norm: a float >= 0 that is added to a variance before its root.
struct Epsilon {
  static constexpr float usual = 1e-5f;  // the value of Epsilon{}

  // Epsilon{} is `usual`. The constructor is trivial: GCC 12 rejects constants in which a default
  // constructor that is not trivial wrote zeros.
  constexpr Epsilon() noexcept = default;
  // Converts a float, which must be >= 0.
  constexpr Epsilon(float epsilon) noexcept  // NOLINT(google-explicit-constructor)
      : stored(epsilon == usual  ? 0.0f
               : epsilon == 0.0f ? -0.0f
                                 : epsilon) {}
  // Returns the epsilon; -0 if it is 0.
  constexpr operator float() const noexcept {  // NOLINT(google-explicit-constructor)
    return __builtin_bit_cast(std::uint32_t, stored) == 0 ? usual : stored;
  }

  // The encoded epsilon: +0 means `usual`, so that a static model is all zeros until it has
  // weights; -0 means 0.
  float stored;
};

namespace detail {

// Normalizes every row of x, [..., Dim].
template <std::size_t Dim, class TensorX, class Out>
constexpr void normalize_features(const kernel::Norm& norm, const TensorX& x, Out& out) noexcept {
  if constexpr (check_rows_of_layer<Dim, Dim, TensorX, Out>())
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i)
        kernel::normalize_features<decltype(port)>(norm, LayoutOf<TensorX>::rows, input(x, i),
                                                   output(out, i));
    });
}

}  // namespace detail

// torch.nn.LayerNorm: (x - mean) / sqrt(variance + epsilon) * weight + bias, over rows of `Dim`
// features. Ba et al., "Layer Normalization", 2016.
template <std::size_t Dim>
struct LayerNorm {
  Vector<float, Dim> weight{};  // for each feature
  Vector<float, Dim> bias{};    // for each feature
  Epsilon epsilon{};            // a float, >= 0; 1e-5 unless given

  // Normalizes each row of x. x and out are [..., Dim]; out may be x.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out) const noexcept {
    detail::normalize_features<Dim>(describe(*this), x, out);
  }
  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, out): tensors or views of float; out is neither const nor a temporary")

  // By value: the result is on the stack.
  constexpr auto operator()(const auto& x) const noexcept {
    return detail::by_value<Dim>(*this, x);
  }

  TINYATTN_MODULE(LayerNorm, weight, bias)

  TINYATTN_ALWAYS_INLINE friend constexpr kernel::Norm describe(const LayerNorm& norm) noexcept {
    return {Dim, norm.weight.data(), norm.bias.data(), norm.epsilon};
  }
};

// x / sqrt(mean of squares + epsilon) * weight, over rows of `Dim` features. Zhang and Sennrich,
// "Root Mean Square Layer Normalization", 2019, as Llama has it.
template <std::size_t Dim>
struct RmsNorm {
  Vector<float, Dim> weight{};  // for each feature
  Epsilon epsilon{};            // a float, >= 0; 1e-5 unless given

  // Normalizes each row of x. x and out are [..., Dim]; out may be x.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out) const noexcept {
    detail::normalize_features<Dim>(describe(*this), x, out);
  }
  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, out): tensors or views of float; out is neither const nor a temporary")

  // By value: the result is on the stack.
  constexpr auto operator()(const auto& x) const noexcept {
    return detail::by_value<Dim>(*this, x);
  }

  TINYATTN_MODULE(RmsNorm, weight)

  TINYATTN_ALWAYS_INLINE friend constexpr kernel::Norm describe(const RmsNorm& norm) noexcept {
    return {Dim, norm.weight.data(), nullptr, norm.epsilon};
  }
};

namespace detail {

template <Normalization normalization, std::size_t Dim>
using Norm =
    std::conditional_t<normalization == Normalization::layer, LayerNorm<Dim>, RmsNorm<Dim>>;

}  // namespace detail

// Sets the weights to 1 and the biases to 0, as PyTorch does; draws nothing.
template <template <std::size_t> class Norm, std::size_t Dim, random_generator Generator>
requires std::is_same_v<decltype(Norm<Dim>::epsilon), Epsilon>
constexpr void initialize(Norm<Dim>& norm, Generator&) noexcept {
  norm.weight = full<float, Dim>(1.0f);
  if constexpr (requires { norm.bias; }) norm.bias = {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
