// SPDX-License-Identifier: MIT
//
// The backward passes of layers: of Linear, Conv1d, Embedding, LayerNorm, RmsNorm and FeedForward.
#pragma once

#include "tinyattn/convolution.hpp"
#include "tinyattn/embedding.hpp"
#include "tinyattn/feed_forward.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/convolution.hpp"
#include "tinyattn/training/kernel/feed_forward.hpp"
#include "tinyattn/training/kernel/normalization.hpp"
#include "tinyattn/training/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// --- Linear ---

namespace detail {

template <class Layer>
struct LinearOf {};
template <std::size_t In, std::size_t Out, bool Bias, Weights of_layer>
struct LinearOf<Linear<In, Out, Bias, of_layer>> {
  static constexpr std::size_t in = In, out = Out;
  static constexpr Weights weights = of_layer;
};
template <class Layer>
concept trained_linear = has_backward<Layer, LinearOf<BaseOf<Layer>>::weights>;

}  // namespace detail

// Adds to gradient.weight x^T . output_gradient, and to gradient.bias the rows of output_gradient;
// input_gradient = output_gradient . weight^T. x and input_gradient are [..., In], output_gradient
// is [..., Out]; input_gradient may be x. Either gradient may be no_gradient. With adapters, adds
// to the gradients of A and B instead.
template <detail::trained_linear Layer, tensor_like TensorX, tensor_like OutputGradient,
          class InputGradient, class Gradient>
constexpr void backward(const Layer& linear, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient) noexcept {
  using Layout = detail::LayoutOf<TensorX>;
  constexpr std::size_t in = detail::LinearOf<detail::BaseOf<Layer>>::in,
                        out = detail::LinearOf<detail::BaseOf<Layer>>::out;
  if constexpr (detail::check_backward_input<in, TensorX>() &&
                detail::check_backward<Layer, OutputGradient, detail::WithCols<TensorX, out>,
                                       InputGradient, TensorX, Gradient>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      const auto weight = describe(linear).weight;
      for (std::size_t i = 0; i < Layout::batch; ++i) {
        const kernel::Dense d_out = detail::input(output_gradient, i);
        kernel::add_projection_gradient<Port>(Layout::rows, in, out, detail::input(x, i), d_out,
                                              weight, detail::projection_gradient(gradient));
        if constexpr (!detail::is_no_gradient<InputGradient>)
          kernel::project_backward<Port>(Layout::rows, in, out, d_out, weight,
                                         detail::output(input_gradient, i));
      }
    });
}

// --- Conv1d ---

// Adds to gradient.weight and gradient.bias, tokens of the result rising, then batch elements.
// input_gradient[t][j] is the sum over tokens i of the result that x[t] is part of, and over
// outputs o, of output_gradient[i][o] * weight[k * in + j][o], k the token of the kernel that lies
// on x[t]: one chain of fma from +0, i rising, then o. Both leave out the padding. x and
// input_gradient are
// [..., tokens, in], output_gradient is [..., tokens_after(tokens), out]; input_gradient may not
// overlap it, but may be x. Either of the last two may be no_gradient.
template <Conv1dConfig config, tensor_like TensorX, tensor_like OutputGradient, class InputGradient,
          class Gradient>
requires(config.weights ==
         Weights::f32) constexpr void backward(const Conv1d<config>& layer, const TensorX& x,
                                               const OutputGradient& output_gradient,
                                               InputGradient& input_gradient,
                                               Gradient& gradient) noexcept {
  using LayoutX = detail::LayoutOf<TensorX>;
  static_assert(config.groups == 1 && config.dilation == 1,
                "the backward pass of a Conv1d takes groups and a dilation of 1");
  if constexpr (detail::check_convolved<config, TensorX>() &&
                detail::check_backward<Conv1d<config>, OutputGradient,
                                       detail::Convolved<config, TensorX>, InputGradient, TensorX,
                                       Gradient>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      constexpr kernel::Convolution shape{LayoutX::rows, config.in,     config.out,
                                          config.kernel, config.stride, config.padding};
      for (std::size_t element = 0; element < LayoutX::batch; ++element) {
        const kernel::Dense d_out = detail::input(output_gradient, element);
        kernel::add_convolution_gradient<Port>(shape, detail::matrix_at(x, element), d_out,
                                               detail::projection_gradient(gradient));
        if constexpr (!detail::is_no_gradient<InputGradient>)
          kernel::convolve_backward<Port>(shape, d_out, layer.weight.data(),
                                          detail::matrix_at(input_gradient, element));
      }
    });
}

// --- Embedding ---

// Adds row i of output_gradient, [tokens, Dim], to row tokens[i] of gradient.weight, i rising: all
// rows of a token add up. Tokens have no gradient; that of the module may be no_gradient. Adds
// nothing if a token is not below Count: forward has then returned unknown_token.
template <std::size_t Count, std::size_t Dim, std::size_t Tokens, tensor_like OutputGradient,
          class Gradient>
constexpr void backward(const Embedding<Count, Dim>&, const Vector<Token, Tokens>& tokens,
                        const OutputGradient& output_gradient, const NoGradient&,
                        Gradient& gradient) noexcept {
  if constexpr (detail::check_backward<Embedding<Count, Dim>, OutputGradient,
                                       Matrix<float, Tokens, Dim>, NoGradient,
                                       Vector<Token, Tokens>, Gradient>()) {
    if (!kernel::are_known(tokens.data(), Tokens, Count)) return;
    on_native_port([&](auto port) {
      kernel::embed_backward<decltype(port)>({detail::projection_gradient(gradient).weight, Dim},
                                             {nullptr, 0}, tokens.data(), Tokens, 0,
                                             detail::input(output_gradient, 0));
    });
  }
}

// The same: an embedding has no gradient of its input.
template <std::size_t Count, std::size_t Dim, std::size_t Tokens, tensor_like OutputGradient,
          class Gradient>
constexpr void backward(const Embedding<Count, Dim>& embedding, const Vector<Token, Tokens>& tokens,
                        const OutputGradient& output_gradient, Gradient& gradient) noexcept {
  backward(embedding, tokens, output_gradient, no_gradient, gradient);
}

// --- LayerNorm and RmsNorm ---

namespace detail {

// Returns the gradient of a norm as kernels take it. Its epsilon is no parameter.
template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::NormGradient norm_gradient(Gradient& gradient) noexcept {
  const kernel::ProjectionGradient pointers = projection_gradient(gradient);
  return {pointers.weight, pointers.bias};
}

template <class Norm>
inline constexpr std::size_t features_of_norm = 0;
template <std::size_t Dim>
inline constexpr std::size_t features_of_norm<LayerNorm<Dim>> = Dim;
template <std::size_t Dim>
inline constexpr std::size_t features_of_norm<RmsNorm<Dim>> = Dim;

}  // namespace detail

// With n the normalized row and g = output_gradient * weight: input_gradient = (g - mean of g - n *
// mean of g n) / deviation; of an RmsNorm, (g - n * mean of g n) / root mean square. Adds
// output_gradient * n to gradient.weight, and output_gradient to the bias of a LayerNorm, rows
// rising. gradient.epsilon is not touched. x and both gradients are [..., Dim]; input_gradient may
// be x or output_gradient. Either of the last two may be no_gradient. One row of floats is on the
// stack.
template <class Norm, tensor_like TensorX, tensor_like OutputGradient, class InputGradient,
          class Gradient>
requires(detail::features_of_norm<Norm> !=
         0) constexpr void backward(const Norm& norm, const TensorX& x,
                                    const OutputGradient& output_gradient,
                                    InputGradient& input_gradient, Gradient& gradient) noexcept {
  using LayoutX = detail::LayoutOf<TensorX>;
  constexpr std::size_t dim = detail::features_of_norm<Norm>;
  if constexpr (detail::check_backward_input<dim, TensorX>() &&
                detail::check_backward<Norm, OutputGradient, detail::Like<TensorX>, InputGradient,
                                       TensorX, Gradient>())
    on_native_port([&](auto port) {
      float normalized[dim];
      for (std::size_t element = 0; element < LayoutX::batch; ++element) {
        const kernel::Output d_x = detail::output_or_none(input_gradient, element);
        for (std::size_t i = 0; i < LayoutX::rows; ++i)
          kernel::norm_backward<decltype(port)>(
              describe(norm), detail::norm_gradient(gradient), detail::input(x, element).at(i, 0),
              detail::input(output_gradient, element).at(i, 0),
              detail::is_no_gradient<InputGradient> ? nullptr : d_x.at(i, 0), normalized);
      }
    });
}

// --- FeedForward ---

// The scratch of the backward pass of a FeedForward, which processes `rows` rows at a time.
template <FeedForwardConfig config>
struct BackwardWorkspace<FeedForward<config>> {
  static constexpr std::size_t rows = kernel::feed_forward_rows<native_port>;  // at a time
  float scratch[kernel::hidden_backward_scratch(rows, FeedForward<config>::d_hidden,
                                                config.gated)];  // hidden features, gradients
  // Of inputs of int8 weights, through which gradients pass to adapters.
  [[no_unique_address]] detail::IntegerWorkspace<detail::integer_width_of_feed_forward<config>,
                                                 rows>
      integers;
};

namespace detail {

template <class Layer>
struct FeedForwardOf {};
template <FeedForwardConfig of_layer>
struct FeedForwardOf<FeedForward<of_layer>> {
  static constexpr FeedForwardConfig config = of_layer;
};
template <class Layer>
concept trained_feed_forward = has_backward<Layer, FeedForwardOf<BaseOf<Layer>>::config.weights>;

// Returns the gradient of a feed-forward layer as kernels take it.
template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::FeedForwardGradient feed_forward_gradient(
    Gradient& gradient) noexcept {
  if constexpr (requires { gradient.up; })
    return {projection_gradient(gradient.up), projection_gradient(gradient.gate),
            projection_gradient(gradient.down)};
  else
    return {};
}

}  // namespace detail

// Adds to the gradients of all projections, rows rising, and computes the gradient of x. Hidden
// features are computed again. x and both gradients are [..., d_model]; input_gradient may be x or
// output_gradient. Either of input_gradient and gradient may be no_gradient.
template <detail::trained_feed_forward Layer, tensor_like TensorX, tensor_like OutputGradient,
          class InputGradient, class Gradient, class Workspace>
constexpr void backward(const Layer& layer, const TensorX& x, const OutputGradient& output_gradient,
                        InputGradient& input_gradient, Gradient& gradient,
                        Workspace& workspace) noexcept {
  using Layout = detail::LayoutOf<TensorX>;
  if constexpr (detail::check_backward_input<detail::BaseOf<Layer>::d_model, TensorX>() &&
                detail::check_backward<Layer, OutputGradient, detail::Like<TensorX>, InputGradient,
                                       TensorX, Gradient>() &&
                detail::check_backward_workspace<detail::BaseOf<Layer>, Workspace>())
    on_native_port([&](auto port) {
      constexpr std::size_t most = Workspace::rows;
      for (std::size_t element = 0; element < Layout::batch; ++element)
        for (std::size_t first = 0; first < Layout::rows; first += most)
          kernel::feed_forward_backward<decltype(port)>(
              describe(layer), detail::feed_forward_gradient(gradient),
              kernel::minimum(most, Layout::rows - first), detail::input(x, element).from(first, 0),
              detail::input(output_gradient, element).from(first, 0),
              detail::output_or_none(input_gradient, element, first), workspace.scratch,
              workspace.integers.parts());
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
