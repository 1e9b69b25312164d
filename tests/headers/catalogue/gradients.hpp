// SPDX-License-Identifier: MIT
//
// Operations with a backward pass. An operation is a struct with the types of its module, input and output, and a function backward(module,
// x, d_out, d_x, gradient). for_each_parameter walks modules, inputs and gradients alike. Workloads compute operations on every target;
// golden/gradients.cpp compares them with PyTorch.
#pragma once

#include "draw.hpp"
#include "guarded.hpp"
#include "operations.hpp"
#include "tinyattn/training.hpp"

#include <cstddef>

namespace tinyattn::test {

// Stands for a module or an input that an operation does not have.
template <int>
struct None {};

template <class A, class B>
struct Inputs {
  A a;
  B b;

  using Members = detail::Members<detail::names<"a", "b">, &Inputs::a, &Inputs::b>;
};
template <class A, class B, class C>
struct ThreeInputs {
  A a;
  B b;
  C c;

  using Members = detail::Members<detail::names<"a", "b", "c">, &ThreeInputs::a, &ThreeInputs::b, &ThreeInputs::c>;
};

// Calls use(workspace) with a workspace that lies between guards and holds NaN, or use() if the module needs none.
template <class Module>
constexpr void with_workspace(auto use) noexcept {
  if constexpr (requires { sizeof(BackwardWorkspace<Module>); }) {
    Guarded<BackwardWorkspace<Module>> workspace;
    if (!std::is_constant_evaluated())
      for (float& number : reinterpret_cast<float(&)[sizeof(workspace.tensor) / sizeof(float)]>(workspace.tensor)) number = quiet_nan;
    use(workspace.tensor);
    if (!workspace.guards_hold()) __builtin_trap();
  } else {
    use();
  }
}

// --- Modules ---

template <class ItsModule, class X, class Out = X>
struct OfModule {
  using Module = ItsModule;
  using Input = X;
  using Output = Out;

  // `form` follows x in the call: a mask, or a count of tokens.
  static constexpr void backward(const Module& module, const auto& x, const auto& d_out, auto& d_x, auto& gradient,
                                 const auto&... form) noexcept {
    with_workspace<Module>(
        [&](auto&... workspace) { static_cast<void>(tinyattn::backward(module, x, form..., d_out, d_x, gradient, workspace...)); });
  }
};

template <std::size_t In, std::size_t Out, bool Bias, std::size_t... Extents>
using LinearGradient = OfModule<Linear<In, Out, Bias>, Tensor<float, Extents..., In>, Tensor<float, Extents..., Out>>;
template <class Norm, std::size_t... Extents>
using NormGradient = OfModule<Norm, Tensor<float, Extents...>>;
template <FeedForwardConfig config, std::size_t... Extents>
using FeedForwardGradient = OfModule<FeedForward<config>, Tensor<float, Extents..., config.d_model>>;
template <Conv1dConfig config, std::size_t Tokens, std::size_t... Batch>
using ConvolutionGradient = OfModule<Conv1d<config>, Tensor<float, Batch..., Tokens, config.in>,
                                     Tensor<float, Batch..., Conv1d<config>::tokens_after(Tokens), config.out>>;

// An embedding of fixed tokens, some of them twice.
template <std::size_t Dim>
struct EmbeddingGradient {
  using Module = Embedding<5, Dim>;
  using Input = None<0>;
  using Output = Matrix<float, 6, Dim>;

  static constexpr void backward(const Module& module, const Input&, const Output& d_out, auto&, auto& gradient) noexcept {
    tinyattn::backward(module, vector<Token>({3, 0, 3, 4, 0, 3}), d_out, no_gradient, gradient);
  }
};

// --- Functions ---

// backward_of takes the inputs, d_out, and the gradients of the inputs.
template <const auto& backward_of, class Out, class X>
struct OfFunction {
  using Module = None<1>;
  using Input = X;
  using Output = Out;

  static constexpr void backward(const Module&, const Input& x, const Output& d_out, auto& d_x, auto&) noexcept {
    if constexpr (requires { x.c; })
      backward_of(x.a, x.b, x.c, d_out, d_x.a, d_x.b, d_x.c);
    else if constexpr (requires { x.b; })
      backward_of(x.a, x.b, d_out, d_x.a, d_x.b);
    else
      backward_of(x, d_out, d_x);
  }
};

inline constexpr auto matmul_gradients = [](auto&... args) { matmul_backward(args...); };
inline constexpr auto matmul_transposed_gradients = [](auto&... args) { matmul_transposed_backward(args...); };
inline constexpr auto add_gradients = [](auto&... args) { add_backward(args...); };
inline constexpr auto multiply_gradients = [](auto&... args) { multiply_backward(args...); };
template <class Out, class A, class B>
using MatmulGradient = OfFunction<matmul_gradients, Out, Inputs<A, B>>;
template <class Out, class A, class B>
using MatmulTransposedGradient = OfFunction<matmul_transposed_gradients, Out, Inputs<A, B>>;
template <class A, class B>
using AddGradient = OfFunction<add_gradients, decltype(add(A{}, B{})), Inputs<A, B>>;
template <class A, class B>
using MultiplyGradient = OfFunction<multiply_gradients, decltype(multiply(A{}, B{})), Inputs<A, B>>;

inline constexpr float softmax_scale = 0.75f;
inline constexpr auto softmax_gradient = [](auto& x, auto& d_out, auto& d_x) {
  softmax_backward(softmax(x, softmax_scale), softmax_scale, d_out, d_x);
};
template <class X>
using SoftmaxGradient = OfFunction<softmax_gradient, X, X>;

template <Activation activation>
inline constexpr auto activation_gradient = [](auto&... args) {
#define CALL(name, NAME, formula) \
  if constexpr (activation == Activation::name) return name##_backward(args...);
  TINYATTN_ACTIVATIONS(CALL)
#undef CALL
};
template <Activation activation, class X>
using ActivationGradient = OfFunction<activation_gradient<activation>, X, X>;

inline constexpr auto mean_gradient = [](auto&... args) { mean_backward(args...); };
inline constexpr auto largest_gradient = [](auto&... args) { largest_backward(args...); };
template <std::size_t Tokens, std::size_t Features, std::size_t... Batch>
using MeanGradient = OfFunction<mean_gradient, Tensor<float, Batch..., Features>, Tensor<float, Batch..., Tokens, Features>>;
template <std::size_t Tokens, std::size_t Features, std::size_t... Batch>
using LargestGradient = OfFunction<largest_gradient, Tensor<float, Batch..., Features>, Tensor<float, Batch..., Tokens, Features>>;

// With given means and deviations.
template <std::size_t Features>
inline constexpr auto standardize_gradient = [](auto& x, auto& d_out, auto& d_x) {
  Vector<float, Features> inverse_deviations{};
  for (std::size_t j = 0; j < Features; ++j) inverse_deviations(j) = 0.75f + static_cast<float>(j);
  standardize_backward(x, full<float, Features>(0.25f), inverse_deviations, d_out, d_x);
};
template <std::size_t Tokens, std::size_t Features>
using StandardizeGradient = OfFunction<standardize_gradient<Features>, Matrix<float, Tokens, Features>, Matrix<float, Tokens, Features>>;

// --- Cases ---

// The gradients of an operation, as a case. Gradients of parameters accumulate onto drawn numbers.
template <class Operation>
struct Gradients {
  typename Operation::Module module, gradient;
  typename Operation::Input x;
  typename Operation::Output d_out;
  Guarded<typename Operation::Input> d_x;

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(module, x, d_out, gradient);
    if (std::is_constant_evaluated() && !requires { d_x.tensor.elements; })  // compute() fills memory with NaN at run time
      for_each_parameter(d_x.tensor, [](const char*, auto& tensor) {
        for (float& element : tensor.elements) element = quiet_nan;
      });
    Operation::backward(module, x, d_out, d_x.tensor, gradient);
    const auto take = [&](const char* name, const auto& tensor) { outputs.take(name, tensor); };
    for_each_parameter(d_x.tensor, take);
    for_each_parameter(gradient, take);
    outputs.check_guards(d_x);
  }
};

}  // namespace tinyattn::test
