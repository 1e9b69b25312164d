// SPDX-License-Identifier: MIT
//
// Gradients. The gradient of a module is a module of the same type: a backward pass adds to it.
#pragma once

#include "tinyattn/detail/operands.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/shape.hpp"
#include "tinyattn/token.hpp"
#include "tinyattn/training/kernel/projection.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// Replaces a gradient that is not wanted: of an input that is data, or of frozen parameters.
struct NoGradient {};
// The argument of a call that wants no gradient there.
inline constexpr NoGradient no_gradient{};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// All the scratch of the backward pass of a module that needs any. Nothing is kept between calls.
template <class Module>
struct BackwardWorkspace;

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

template <class Gradient>
inline constexpr bool is_no_gradient = std::is_same_v<std::remove_cvref_t<Gradient>, NoGradient>;

// The module that holds a module's weights, and the type of its gradient: both the module itself.
// Adapted specializes this: its base holds the weights, and only its adapters have gradients.
template <class Module>
struct Trained {
  using Base = Module;
  using Gradient = Module;
};
template <class Module>
using BaseOf = typename Trained<Module>::Base;

// Whether a module has a backward pass, whose weights are of this kind: int8 weights are only read,
// by adapters.
template <class Module, Weights weights>
inline constexpr bool has_backward =
    weights == Weights::f32 || !std::is_same_v<Module, BaseOf<Module>>;

// A static_assert diagnoses a vocabulary that has ignore_index, the last Token.
template <class Model>
consteval bool check_vocabulary_of_targets() noexcept {
  if constexpr (requires { Model::vocabulary; }) {
    constexpr bool countable = Model::vocabulary <= static_cast<Token>(-1);
    static_assert(countable, "a vocabulary with targets has at most 65,535 tokens");
  }
  return true;
}

// Activations and scratch of the training of a model.
template <class Model>
struct PassesOf {};
template <class Model>
requires requires { sizeof(BackwardWorkspace<Model>); }
struct PassesOf<Model> : BackwardWorkspace<Model> {
  static_assert(check_vocabulary_of_targets<Model>());
};

// What may take the gradient of a tensor, and of a module.
template <class Gradient, class TensorM>
concept gradient_of_tensor = is_no_gradient<Gradient> ||
    (is_writable<Gradient>&& same_shape<Gradient, TensorM>);
template <class Gradient, class Module>
concept gradient_of_module =
    is_no_gradient<Gradient> || std::is_same_v<Gradient, typename Trained<Module>::Gradient>;

struct NotFloats {
  template <class Parameter>
  consteval std::size_t operator()() const noexcept {
    if constexpr (tensor_like<Parameter>) return !holds_floats<Parameter>;
    return 1;
  }
};

// What has parameters: a tensor, a layer, and a model whose Parts name its members.
template <class Module>
concept has_parameters = parameter_like<Module> || has_parts<Module> || requires {
  typename Module::Members;
};

// Whether all parameters of a module are floats, which can be trained.
template <class Module>
inline constexpr bool has_floats_alone = false;
template <has_parameters Module>
inline constexpr bool has_floats_alone<Module> =
    sum_over_parameters<std::remove_const_t<Module>>(NotFloats{}) == 0;

// A static_assert diagnoses an input that a layer of In features does not take.
template <std::size_t In, class TensorX>
consteval bool check_backward_input() noexcept {
  constexpr bool floats = holds_floats<TensorX>, columns = LayoutOf<TensorX>::cols == In;
  static_assert(floats, "x must hold floats");
  static_assert(columns, "x must have as many columns as the layer has inputs");
  return floats && columns;
}

// A static_assert diagnoses a workspace that is not that of the module.
template <class Module, class Workspace>
consteval bool check_backward_workspace() noexcept {
  constexpr bool fits = std::is_same_v<Workspace, BackwardWorkspace<Module>>;
  static_assert(fits,
                "the workspace of a backward pass must be the BackwardWorkspace of the module");
  return fits;
}

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

// The same for a function, which has no parameters; and for one that maps each row to a row of the
// same size.
template <class OutputGradient, class ShapeOfOutput, class InputGradient, class TensorX>
consteval bool check_backward_function() noexcept {
  return check_backward<NoGradient, OutputGradient, ShapeOfOutput, InputGradient, TensorX,
                        NoGradient>();
}
template <class TensorX, class OutputGradient, class InputGradient>
consteval bool check_backward_rows() noexcept {
  static_assert(holds_floats<TensorX>, "x must hold floats");
  return holds_floats<TensorX> &&
         check_backward_function<OutputGradient, Like<TensorX>, InputGradient, TensorX>();
}

// Returns row i of all rows of a batch.
template <class TensorM>
TINYATTN_ALWAYS_INLINE constexpr auto row_at(TensorM& m, std::size_t i) noexcept {
  return m.data() + i * LayoutOf<TensorM>::stride;
}

// Calls step(port, row of x, of output_gradient and of input_gradient) for each row of a function
// that check_backward_rows checks.
template <class TensorX, class OutputGradient, class InputGradient>
constexpr void backward_rows(const TensorX& x, const OutputGradient& output_gradient,
                             InputGradient& input_gradient, const auto& step) noexcept {
  if constexpr (check_backward_rows<TensorX, OutputGradient, InputGradient>())
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < LayoutOf<TensorX>::batch * LayoutOf<TensorX>::rows; ++i)
        step(port, row_at(x, i), row_at(output_gradient, i), row_at(input_gradient, i));
    });
}

template <class TensorM>
constexpr void fill_with_zeros(TensorM& m) noexcept {
  for (std::size_t i = 0; i < LayoutOf<TensorM>::batch * LayoutOf<TensorM>::rows; ++i)
    for (std::size_t j = 0; j < LayoutOf<TensorM>::cols; ++j) row_at(m, i)[j] = 0.0f;
}

// Returns matrix `index` of the gradient of an input, from row `first` on, or null if it is not
// wanted.
template <class InputGradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::Output output_or_none(InputGradient& d_x,
                                                               std::size_t index,
                                                               std::size_t first = 0) noexcept {
  if constexpr (is_no_gradient<InputGradient>)
    return {nullptr, 0};
  else
    return output(d_x, index).from(first, 0);
}

// Returns the gradient of a projection as kernels take it. A member that is absent has none.
template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::ProjectionGradient projection_gradient(
    Gradient& gradient) noexcept {
  kernel::ProjectionGradient pointers;
  if constexpr (requires { gradient.weight.data(); }) pointers.weight = gradient.weight.data();
  if constexpr (requires { gradient.bias.data(); }) pointers.bias = gradient.bias.data();
  if constexpr (requires { gradient.lora_A.data(); }) {
    pointers.lora_a = gradient.lora_A.data();
    pointers.lora_b = gradient.lora_B.data();
  }
  return pointers;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

template <class Module>
constexpr detail::Diagnosed backward(const Module&, ...) noexcept {
  constexpr bool is_int8 = detail::has_parameters<Module> && !detail::has_floats_alone<Module>;
  static_assert(!is_int8, "a backward pass needs weights of floats: int8 weights have no gradient");
  static_assert(is_int8 || detail::no_such_call<Module>,
                "backward takes (module, input, output_gradient, input_gradient, gradient), then a "
                "BackwardWorkspace of the module if its forward has one: gradients are neither "
                "const nor temporaries");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
