// SPDX-License-Identifier: MIT
//
// Activations, element by element, as in torch.nn.functional: each activation of activation_list.h
// is a function of that name. And what scales the samples of a sensor.
#pragma once

#include "tinyattn/detail/rows.hpp"
#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <Activation activation>
inline constexpr auto activate_row =
    [](auto port, const float* from, float* to, std::size_t count) TINYATTN_INLINE_LAMBDA {
      kernel::activate_row<decltype(port)>(activation, from, to, count);
    };

// A static_assert diagnoses what scales features, if it is wrong.
template <class TensorX, class Mean, class InverseDeviation>
consteval bool check_features() noexcept {
  using Features = Vector<float, LayoutOf<TensorX>::cols>;
  constexpr bool fits = same_shape<Mean, Features> && same_shape<InverseDeviation, Features>;
  static_assert(fits,
                "mean and inverse_deviation must be vectors of float, an element for each feature");
  return fits;
}

}  // namespace detail

// NAME(m, out), or by value NAME(m): the activation of each element of m. m and `out` have the same
// shape; `out` may be m. A finite x has a finite result, a NaN stays a NaN, and -infinity becomes 0
// or -0. A result below 2^-100 in magnitude may become 0. gelu(-9) is about 10^-18, though the
// formula itself would lose all digits; gelu_tanh is x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
// / 2.
#define TINYATTN_FUNCTION_OF_CPP(name, NAME, formula)                              \
  template <tensor_like TensorM, tensor_like... Out>                               \
  requires detail::at_most_one<Out...>                                             \
  constexpr auto name(const TensorM& m, Out&... out) noexcept {                    \
    return detail::map_rows(m, detail::activate_row<Activation::name>, out...);    \
  }                                                                                \
  template <class First>                                                           \
  constexpr detail::Diagnosed name(const First&, detail::Anything, ...) noexcept { \
    return detail::diagnose_rows<First>();                                         \
  }
TINYATTN_ACTIVATIONS(TINYATTN_FUNCTION_OF_CPP)
#undef TINYATTN_FUNCTION_OF_CPP

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
