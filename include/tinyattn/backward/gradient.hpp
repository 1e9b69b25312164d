// SPDX-License-Identifier: MIT
//
// Gradients. The gradient of a module is a module of the same type: a backward pass adds to it.
#pragma once

#include "tinyattn/detail/operands.hpp"
#include "tinyattn/kernel/backward/projection.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// Replaces a gradient that is not wanted: of an input that is data, or of frozen parameters.
struct NoGradient {};
inline constexpr NoGradient no_gradient{};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// All the scratch of the backward pass of a module. Nothing is kept between calls.
template <class Module>
struct BackwardWorkspace;

namespace detail {

template <class Gradient>
inline constexpr bool is_no_gradient = std::is_same_v<std::remove_cvref_t<Gradient>, NoGradient>;

// What may take the gradient of a tensor, and of a module.
template <class Gradient, class TensorM>
concept gradient_of_tensor = is_no_gradient<Gradient> ||
    (is_writable<Gradient>&& same_shape<Gradient, TensorM>);
template <class Gradient, class Module>
concept gradient_of_module = is_no_gradient<Gradient> || std::is_same_v<Gradient, Module>;

// A static_assert diagnoses wrong types of a backward pass; the caller then computes nothing.
template <class Module, class OutputGradient, class ShapeOfOutput, class InputGradient,
          class TensorX, class Gradient>
consteval bool check_backward() noexcept {
  constexpr bool d_out_fits =
      holds_floats<OutputGradient> && same_shape<OutputGradient, ShapeOfOutput>;
  constexpr bool d_x_fits = gradient_of_tensor<InputGradient, TensorX>;
  constexpr bool gradient_fits = gradient_of_module<Gradient, Module>;
  static_assert(d_out_fits, "the gradient of an output must have the shape of the output");
  static_assert(d_x_fits,
                "the gradient of an input must have the shape of the input, or be no_gradient");
  static_assert(gradient_fits,
                "the gradient of a module must be a module of the same type, or no_gradient");
  return d_out_fits && d_x_fits && gradient_fits;
}

// Returns matrix `index` of the gradient of an input, or null if it is not wanted.
template <class InputGradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::Output output_or_none(InputGradient& d_x,
                                                               std::size_t index) noexcept {
  if constexpr (is_no_gradient<InputGradient>)
    return {nullptr, 0};
  else
    return output(d_x, index);
}

// Returns the gradient of a projection as kernels take it. A member that is absent has none.
template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::ProjectionGradient projection_gradient(
    Gradient& gradient) noexcept {
  kernel::ProjectionGradient pointers;
  if constexpr (requires { gradient.weight.data(); }) pointers.weight = gradient.weight.data();
  if constexpr (requires { gradient.bias.data(); }) pointers.bias = gradient.bias.data();
  return pointers;
}

}  // namespace detail

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
