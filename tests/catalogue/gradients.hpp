// SPDX-License-Identifier: MIT
//
// Operations with a backward pass. An operation is a struct with the types of its module, its input and its output, and two functions:
// forward(module, x, out) and backward(by, module, x, d_out, d_x, gradient), where `by` is the library or the plain twin. A module, an
// input and a gradient are all walked by for_each_parameter. unit/backward.cpp and golden/gradients.cpp have tests for any operation.
#pragma once

#include "draw.hpp"
#include "guarded.hpp"
#include "library.hpp"
#include "plain_backward.hpp"
#include "tinyattn/training.hpp"

#include <cstddef>

namespace tinyattn::test {

// In the place of a module, or of an input, that an operation does not have.
template <int>
struct None {};

// Two inputs.
template <class A, class B>
struct Inputs {
  A a;
  B b;

  static constexpr auto members(auto& self, const auto& use) { return use(detail::names<"a", "b">, self.a, self.b); }
};

// --- Who computes ---

// Calls the backward pass of a module in the library, with a workspace if it needs one.
template <class Module>
constexpr void backward_of(Library, const Module& module, const auto& x, const auto& d_out, auto& d_x, auto& gradient) noexcept {
  if constexpr (requires { sizeof(BackwardWorkspace<Module>); }) {
    BackwardWorkspace<Module> workspace;
    static_cast<void>(backward(module, x, d_out, d_x, gradient, workspace));
  } else {
    backward(module, x, d_out, d_x, gradient);
  }
}
constexpr void backward_of(Twin, const auto& module, const auto& x, const auto& d_out, auto& d_x, auto& gradient) noexcept {
  plain::backward(module, x, d_out, d_x, gradient);
}

// --- Modules ---

template <class ItsModule, class X, class Out = X>
struct OfModule {
  using Module = ItsModule;
  using Input = X;
  using Output = Out;

  static constexpr void forward(const Module& module, const Input& x, Output& out) noexcept {
    if constexpr (requires { typename Module::Workspace; }) {
      typename Module::Workspace workspace;
      module.forward(x, out, workspace);
    } else {
      module.forward(x, out);
    }
  }
  static constexpr void backward(auto by, const Module& module, const Input& x, const Output& d_out, auto& d_x, auto& gradient) noexcept {
    backward_of(by, module, x, d_out, d_x, gradient);
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
  static constexpr Vector<Token, 6> tokens = {{3, 0, 3, 4, 0, 3}};

  static constexpr void forward(const Module& module, const Input&, Output& out) noexcept {
    static_cast<void>(module.forward(tokens, out));
  }
  static constexpr void backward(auto by, const Module& module, const Input&, const Output& d_out, auto&, auto& gradient) noexcept {
    backward_of(by, module, tokens, d_out, no_gradient, gradient);
  }
};

// --- Functions ---

template <const auto& forward_of, const auto& backward_of, class Out, class... X>
struct OfFunction;
template <const auto& forward_of, const auto& backward_of, class Out, class X>
struct OfFunction<forward_of, backward_of, Out, X> {
  using Module = None<1>;
  using Input = X;
  using Output = Out;

  static constexpr void forward(const Module&, const Input& x, Output& out) noexcept { forward_of(x, out); }
  static constexpr void backward(auto by, const Module&, const Input& x, const Output& d_out, auto& d_x, auto&) noexcept {
    backward_of(by, x, d_out, d_x);
  }
};
template <const auto& forward_of, const auto& backward_of, class Out, class A, class B>
struct OfFunction<forward_of, backward_of, Out, A, B> {
  using Module = None<1>;
  using Input = Inputs<A, B>;
  using Output = Out;

  static constexpr void forward(const Module&, const Input& x, Output& out) noexcept { forward_of(x.a, x.b, out); }
  static constexpr void backward(auto by, const Module&, const Input& x, const Output& d_out, auto& d_x, auto&) noexcept {
    backward_of(by, x.a, x.b, d_out, d_x.a, d_x.b);
  }
};

inline constexpr auto matmul_forward = [](auto&... args) { matmul(args...); };
inline constexpr auto matmul_gradients = []<class By>(By, auto&... args) {
  if constexpr (std::is_same_v<By, Library>)
    matmul_backward(args...);
  else
    plain::matmul_backward(args...);
};
inline constexpr auto matmul_transposed_forward = [](auto&... args) { matmul_transposed(args...); };
inline constexpr auto matmul_transposed_gradients = []<class By>(By, auto&... args) {
  if constexpr (std::is_same_v<By, Library>)
    matmul_transposed_backward(args...);
  else
    plain::matmul_transposed_backward(args...);
};
template <class Out, class A, class B>
using MatmulGradient = OfFunction<matmul_forward, matmul_gradients, Out, A, B>;
template <class Out, class A, class B>
using MatmulTransposedGradient = OfFunction<matmul_transposed_forward, matmul_transposed_gradients, Out, A, B>;

inline constexpr auto dot_forward = [](auto& u, auto& v, auto& out) { out(0) = dot(u, v); };
inline constexpr auto dot_gradients = []<class By>(By, auto& u, auto& v, auto& d_out, auto& d_u, auto& d_v) {
  if constexpr (std::is_same_v<By, Library>) return dot_backward(u, v, d_out(0), d_u, d_v);
  plain::combined_backward(v, d_u, [&](std::size_t) { return d_out(0); });
  plain::combined_backward(u, d_v, [&](std::size_t) { return d_out(0); });
};
template <std::size_t Size>
using DotGradient = OfFunction<dot_forward, dot_gradients, Vector<float, 1>, Vector<float, Size>, Vector<float, Size>>;

inline constexpr auto add_forward = [](auto&... args) { add(args...); };
inline constexpr auto add_gradients = []<class By>(By, auto& a, auto& b, auto& d_out, auto& d_a, auto& d_b) {
  if constexpr (std::is_same_v<By, Library>) return add_backward(a, b, d_out, d_a, d_b);
  plain::combined_backward(d_out, d_a, [](std::size_t) { return 1.0f; });
  plain::combined_backward(d_out, d_b, [](std::size_t) { return 1.0f; });
};
inline constexpr auto subtract_forward = [](auto&... args) { subtract(args...); };
inline constexpr auto subtract_gradients = []<class By>(By, auto& a, auto& b, auto& d_out, auto& d_a, auto& d_b) {
  if constexpr (std::is_same_v<By, Library>) return subtract_backward(a, b, d_out, d_a, d_b);
  plain::combined_backward(d_out, d_a, [](std::size_t) { return 1.0f; });
  plain::combined_backward(d_out, d_b, [](std::size_t) { return -1.0f; });
};
inline constexpr auto multiply_forward = [](auto&... args) { multiply(args...); };
inline constexpr auto multiply_gradients = []<class By>(By, auto& a, auto& b, auto& d_out, auto& d_a, auto& d_b) {
  if constexpr (std::is_same_v<By, Library>) return multiply_backward(a, b, d_out, d_a, d_b);
  plain::combined_backward(d_out, d_a, [&](std::size_t j) { return b.data()[j % b.size()]; });
  plain::combined_backward(d_out, d_b, [&](std::size_t j) { return a.data()[j % a.size()]; });
};
template <class A, class B>
using AddGradient = OfFunction<add_forward, add_gradients, decltype(add(A{}, B{})), A, B>;
template <class A, class B>
using SubtractGradient = OfFunction<subtract_forward, subtract_gradients, decltype(subtract(A{}, B{})), A, B>;
template <class A, class B>
using MultiplyGradient = OfFunction<multiply_forward, multiply_gradients, decltype(multiply(A{}, B{})), A, B>;

// Copies, which have no twin: unit/backward.cpp compares them with differences.
inline constexpr auto concat_columns_forward = [](auto&... args) { concat_columns(args...); };
inline constexpr auto concat_columns_gradients = [](Library, auto&... args) { concat_columns_backward(args...); };
inline constexpr auto concat_rows_forward = [](auto&... args) { concat_rows(args...); };
inline constexpr auto concat_rows_gradients = [](Library, auto&... args) { concat_rows_backward(args...); };
template <class A, class B>
using ConcatColumnsGradient = OfFunction<concat_columns_forward, concat_columns_gradients, decltype(concat_columns(A{}, B{})), A, B>;
template <class A, class B>
using ConcatRowsGradient = OfFunction<concat_rows_forward, concat_rows_gradients, decltype(concat_rows(A{}, B{})), A, B>;

inline constexpr auto stack_forward = [](auto&... args) { stack(args...); };
inline constexpr auto stack_gradients = [](Library, auto&... args) { stack_backward(args...); };
template <class X>
using StackGradient = OfFunction<stack_forward, stack_gradients, decltype(stack(X{}, X{})), X, X>;

inline constexpr auto row_forward = [](auto& m, auto& out) { row(m, 1, out); };
inline constexpr auto row_gradient = [](Library, auto& m, auto& d_out, auto& d_m) { row_backward(m, 1, d_out, d_m); };
inline constexpr auto transpose_forward = [](auto& m, auto& out) { transpose(m, out); };
inline constexpr auto transpose_gradient = [](Library, auto&... args) { transpose_backward(args...); };
inline constexpr auto tril_forward = [](auto& m, auto& out) { tril(m, 1, out); };
inline constexpr auto tril_gradient = [](Library, auto& m, auto& d_out, auto& d_m) { tril_backward(m, 1, d_out, d_m); };
inline constexpr auto triu_forward = [](auto& m, auto& out) { triu(m, -1, out); };
inline constexpr auto triu_gradient = [](Library, auto& m, auto& d_out, auto& d_m) { triu_backward(m, -1, d_out, d_m); };
inline constexpr auto every_third = vector<bool>({false, true, false, false, true});
inline constexpr auto masked_fill_forward = [](auto& m, auto& out) { masked_fill(m, every_third, 2.0f, out); };
inline constexpr auto masked_fill_gradient = [](Library, auto& m, auto& d_out, auto& d_m) {
  masked_fill_backward(m, every_third, d_out, d_m);
};
// A dropout of the gradient that draws what that of x has drawn.
inline constexpr auto drop_half = [](auto& x, auto& out) {
  Philox4x32 generator(7);
  dropout(x, 0.5, generator, out);
};
inline constexpr auto drop_gradient = [](Library, auto&, auto& d_out, auto& d_x) { drop_half(d_out, d_x); };
using RowGradient = OfFunction<row_forward, row_gradient, Vector<float, 5>, Matrix<float, 3, 5>>;
using TransposeGradient = OfFunction<transpose_forward, transpose_gradient, Matrix<float, 5, 3>, Matrix<float, 3, 5>>;
template <const auto& forward_of, const auto& backward_of>
using MaskedGradient = OfFunction<forward_of, backward_of, Tensor<float, 2, 4, 5>, Tensor<float, 2, 4, 5>>;

inline constexpr float softmax_scale = 0.75f;
inline constexpr auto softmax_forward = [](auto& x, auto& out) { softmax(x, softmax_scale, out); };
inline constexpr auto softmax_gradient = []<class By>(By, auto& x, auto& d_out, auto& d_x) {
  const auto weights = softmax(x, softmax_scale);
  if constexpr (std::is_same_v<By, Library>)
    softmax_backward(weights, softmax_scale, d_out, d_x);
  else
    plain::softmax_backward(weights, softmax_scale, d_out, d_x);
};
template <class X>
using SoftmaxGradient = OfFunction<softmax_forward, softmax_gradient, X, X>;

inline constexpr auto softmax_naive_forward = [](auto& x, auto& out) { softmax_naive(x, out); };
inline constexpr auto softmax_naive_gradient = []<class By>(By, auto& x, auto& d_out, auto& d_x) {
  if constexpr (std::is_same_v<By, Library>)
    softmax_naive_backward(softmax_naive(x), d_out, d_x);
  else
    plain::softmax_backward(softmax_naive(x), 1.0f, d_out, d_x);
};
inline constexpr auto normalize_forward = [](auto& x, auto& out) { normalize(x, out); };
inline constexpr auto normalize_gradient = []<class By>(By, auto&... args) {
  if constexpr (std::is_same_v<By, Library>)
    normalize_backward(args...);
  else
    plain::normalize_backward(args...);
};
template <class X>
using SoftmaxNaiveGradient = OfFunction<softmax_naive_forward, softmax_naive_gradient, X, X>;
template <class X>
using NormalizeGradient = OfFunction<normalize_forward, normalize_gradient, X, X>;

template <Activation activation>
inline constexpr auto activation_forward = [](auto& x, auto& out) { Library::activate<activation>(x, out); };
template <Activation activation>
inline constexpr auto activation_gradient = []<class By>(By, auto&... args) {
  if constexpr (!std::is_same_v<By, Library>) return plain::activation_backward(activation, args...);
#define CALL(name, NAME, formula) else if constexpr (activation == Activation::name) return name##_backward(args...);
  TINYATTN_ACTIVATIONS(CALL)
#undef CALL
};
template <Activation activation, class X>
using ActivationGradient = OfFunction<activation_forward<activation>, activation_gradient<activation>, X, X>;

inline constexpr auto mean_forward = [](auto& x, auto& out) { mean(x, out); };
inline constexpr auto mean_gradient = []<class By>(By, auto&... args) {
  if constexpr (std::is_same_v<By, Library>)
    mean_backward(args...);
  else
    plain::mean_backward(args...);
};
inline constexpr auto largest_forward = [](auto& x, auto& out) { largest(x, out); };
inline constexpr auto largest_gradient = []<class By>(By, auto&... args) {
  if constexpr (std::is_same_v<By, Library>)
    largest_backward(args...);
  else
    plain::largest_backward(args...);
};
template <std::size_t Tokens, std::size_t Features, std::size_t... Batch>
using MeanGradient = OfFunction<mean_forward, mean_gradient, Tensor<float, Batch..., Features>, Tensor<float, Batch..., Tokens, Features>>;
template <std::size_t Tokens, std::size_t Features, std::size_t... Batch>
using LargestGradient =
    OfFunction<largest_forward, largest_gradient, Tensor<float, Batch..., Features>, Tensor<float, Batch..., Tokens, Features>>;

// The deviations are powers of two here, since they are constants that the twin need not draw.
template <std::size_t Features>
inline constexpr auto inverse_deviations = [] {
  Vector<float, Features> result{};
  for (std::size_t j = 0; j < Features; ++j) result(j) = 0.75f + static_cast<float>(j);
  return result;
}();
template <std::size_t Features>
inline constexpr auto standardize_forward =
    [](auto& x, auto& out) { standardize(x, full<float, Features>(0.25f), inverse_deviations<Features>, out); };
template <std::size_t Features>
inline constexpr auto standardize_gradient = []<class By>(By, auto& x, auto& d_out, auto& d_x) {
  if constexpr (std::is_same_v<By, Library>)
    standardize_backward(x, full<float, Features>(0.25f), inverse_deviations<Features>, d_out, d_x);
  else
    plain::standardize_backward(inverse_deviations<Features>, d_out, d_x);
};
template <std::size_t Tokens, std::size_t Features>
using StandardizeGradient = OfFunction<standardize_forward<Features>, standardize_gradient<Features>, Matrix<float, Tokens, Features>,
                                       Matrix<float, Tokens, Features>>;

// --- Cases ---

// The gradients of an operation, as a case: those of parameters go on from what they hold.
template <class Operation>
struct Gradients {
  typename Operation::Module module, gradient;
  typename Operation::Input x;
  typename Operation::Output d_out;
  Guarded<typename Operation::Input> d_x;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(module, x, d_out, gradient);
    if (std::is_constant_evaluated() && !requires { d_x.tensor.elements; })  // compute() fills memory with NaN at run time
      for_each_parameter(d_x.tensor, [](const char*, auto& tensor) {
        for (float& element : tensor.elements) element = quiet_nan;
      });
    Operation::backward(by, module, x, d_out, d_x.tensor, gradient);
    const auto take = [&](const char* name, const auto& tensor) { outputs.take(name, tensor); };
    for_each_parameter(d_x.tensor, take);
    for_each_parameter(gradient, take);
    outputs.check_guards(d_x);
  }
};

}  // namespace tinyattn::test
