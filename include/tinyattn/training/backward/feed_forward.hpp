// SPDX-License-Identifier: MIT
//
// The backward pass of a FeedForward.
#pragma once

#include "tinyattn/feed_forward.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/feed_forward.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

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
              detail::rows_or_none(input_gradient, element, first), workspace.scratch,
              workspace.integers.parts());
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
