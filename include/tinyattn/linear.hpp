// SPDX-License-Identifier: MIT
//
// The affine layer: x . weight + bias.
#pragma once

#include "tinyattn/detail/integer_workspace.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/initialize.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/weights.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// torch.nn.Linear. Its weight is [In, Out], the transpose of PyTorch's; from_torch transposes it.
// Row i has the weights of input feature i for all outputs. A weight of int8 is [Out, In], as
// PyTorch's is; quantize computes it from floats.
template <std::size_t In, std::size_t Out, bool Bias = true, Weights weights = Weights::f32>
struct Linear {
  static_assert(detail::check_type_of_weights<weights>());

  detail::WeightMatrix<weights, In, Out> weight{};  // [In, Out], of int8 [Out, In]
  // Added to each row.
  [[no_unique_address]] detail::Optional<Bias, Vector<float, Out>> bias{};

  // Computes out = x . weight + bias, with x [..., In] and out [..., Out], which may not overlap x.
  // With weights of floats each sum starts at the bias. With int8 weights rows of x are rounded to
  // integers first, up to four at a time, on the stack: at most 4 KB, or one row of In + 17 words.
  template <tensor_like TensorX, tensor_like TensorY>
  constexpr void forward(const TensorX& x, TensorY& out) const noexcept {
    using LayoutX = detail::LayoutOf<TensorX>;
    if constexpr (detail::check_rows_of_layer<In, Out, TensorX, TensorY>())
      on_native_port([&](auto port) {
        constexpr std::size_t width = weights == Weights::int8 ? In : 0;
        detail::IntegerWorkspace<width, detail::rows_on_stack<decltype(port)>(LayoutX::rows, width)>
            integers;
        for (std::size_t element = 0; element < LayoutX::batch; ++element)
          kernel::project<decltype(port), kernel::Shape{LayoutX::rows}>(
              LayoutX::rows, In, Out, detail::input(x, element), describe(*this),
              detail::output(out, element), integers.parts());
      });
  }

  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, out): tensors or views of float; out is neither const nor a temporary")

  // By value: the result is on the stack.
  constexpr auto operator()(const auto& x) const noexcept {
    return detail::by_value<Out>(*this, x);
  }

  // Weights of floats are not quantized by an assignment.
  template <Weights other>
  requires(other != weights) constexpr operator Linear<In, Out, Bias, other>() const noexcept {
    return detail::diagnose_quantization<Linear<In, Out, Bias, other>>();
  }

  TINYATTN_MODULE(Linear, weight, bias)

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Linear& linear) noexcept {
    return detail::projection_of(linear);
  }
  friend constexpr auto converted(const Linear& linear, auto to) noexcept
      requires(weights == Weights::f32) {
    return Linear<In, Out, Bias, to.weights>{to.matrix_of(linear.weight), linear.bias};
  }
};

// Makes a Linear from the weight and bias of a PyTorch state_dict: transposes the weight, which is
// [out features, in features] there. The result, with all weights, is on the stack unless it is a
// constant.
template <std::size_t Out, std::size_t In, std::size_t... BiasSize>
requires detail::at_most_one<Vector<float, BiasSize>...>
constexpr auto from_torch(const Matrix<float, Out, In>& weight_out_in,
                          const Vector<float, BiasSize>&... bias) noexcept {
  static_assert((... && (BiasSize == Out)), "bias must have one element for each row of weight");
  return Linear<In, Out, sizeof...(BiasSize) == 1>{transpose(weight_out_in), {bias...}};
}

template <tensor_like TensorM>
requires(!detail::holds_floats<TensorM>) constexpr detail::Diagnosed
    from_torch(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "from_torch takes (weight) or (weight, bias): a matrix and a vector of float");
  return {};
}

// Draws weight, then bias, as torch.nn.Linear does: uniform from -1 / sqrt(In) to 1 / sqrt(In), in
// the order of PyTorch's layout.
template <std::size_t In, std::size_t Out, bool Bias, random_generator Generator>
constexpr void initialize(Linear<In, Out, Bias>& linear, Generator& generator) noexcept {
  detail::draw_uniform<In>(linear.weight, generator);
  if constexpr (Bias) detail::draw_uniform<In>(linear.bias, generator);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
