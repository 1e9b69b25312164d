// SPDX-License-Identifier: MIT
//
// Activations, element by element, as in torch.nn.functional. A finite x has a finite result, a NaN
// stays a NaN, and -infinity becomes 0 (-0 by gelu_tanh and silu). Maximum errors are those over
// all floats, in units in the last place (ulp) of the result; a result below 2^-100 in magnitude
// may become 0.
#pragma once

#include "tinyattn/detail/rows.hpp"
#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <Activation activation, class TensorM>
constexpr auto activate(const TensorM& m, auto&... out) noexcept {
  return map_rows(
      m,
      [](auto port, const float* from, float* to, std::size_t count) {
        kernel::activate_row<decltype(port)>(activation, from, to, count);
      },
      out...);
}

}  // namespace detail

// x, or 0 if x is negative, for each element x of m. m and `out` have the same shape; `out` may be
// m. Exact.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto relu(const TensorM& m, Out&... out) noexcept {
  return detail::activate<Activation::relu>(m, out...);
}

TINYATTN_DIAGNOSTIC(class First, relu(const First&, detail::Anything, ...),
                    "relu takes (m) or (m, out): tensors of float of one shape; out is neither "
                    "const nor a temporary")

// x (1 + erf(x / sqrt(2))) / 2 for each element x of m: PyTorch's default. `out` may be m. Within
// 3.5 ulp above 0 and 6.4 below, where the formula itself would lose all digits: gelu(-9) is about
// 10^-18, not 0.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto gelu(const TensorM& m, Out&... out) noexcept {
  return detail::activate<Activation::gelu>(m, out...);
}

TINYATTN_DIAGNOSTIC(class First, gelu(const First&, detail::Anything, ...),
                    "gelu takes (m) or (m, out): tensors of float of one shape; out is neither "
                    "const nor a temporary")

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 for each element x of m: PyTorch's
// approximate='tanh', which GPT-2 uses. `out` may be m. Within 2 ulp above 0 and 4.1 below.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto gelu_tanh(const TensorM& m, Out&... out) noexcept {
  return detail::activate<Activation::gelu_tanh>(m, out...);
}

TINYATTN_DIAGNOSTIC(class First, gelu_tanh(const First&, detail::Anything, ...),
                    "gelu_tanh takes (m) or (m, out): tensors of float of one shape; out is "
                    "neither const nor a temporary")

// x / (1 + e^-x) for each element x of m. `out` may be m. Within 1.7 ulp above 0 and 3.6 below.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto silu(const TensorM& m, Out&... out) noexcept {
  return detail::activate<Activation::silu>(m, out...);
}

TINYATTN_DIAGNOSTIC(class First, silu(const First&, detail::Anything, ...),
                    "silu takes (m) or (m, out): tensors of float of one shape; out is neither "
                    "const nor a temporary")

// (x - mean) * inverse_deviation, feature by feature: what scales the samples of a sensor. The
// difference is rounded, and the product. x and out are [..., features], mean and inverse_deviation
// Vectors [features]; `out` may be x.
template <tensor_like TensorX, tensor_like Mean, tensor_like InverseDeviation, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto standardize(const TensorX& x, const Mean& mean,
                           const InverseDeviation& inverse_deviation, Out&... out) noexcept {
  [[maybe_unused]] constexpr bool fits = detail::check_features<TensorX, Mean, InverseDeviation>();
  return detail::map_rows(
      x,
      [&](auto port, const float* from, float* to, std::size_t count) {
        kernel::standardize_row<decltype(port)>(from, mean.data(), inverse_deviation.data(), to,
                                                count);
      },
      out...);
}

TINYATTN_DIAGNOSTIC(class First, standardize(const First&, ...),
                    "standardize takes (x, mean, inverse_deviation), then out: tensors of float; "
                    "out is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
