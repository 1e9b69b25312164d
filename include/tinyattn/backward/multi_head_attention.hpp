// SPDX-License-Identifier: MIT
//
// The backward pass of attention layers. It takes the inputs of the forward pass, and computes
// queries, keys, values and weights again.
#pragma once

#include "tinyattn/backward/gradient.hpp"
#include "tinyattn/backward/replay.hpp"
#include "tinyattn/kernel/backward/layer.hpp"
#include "tinyattn/multi_head_attention.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// All the scratch of the backward pass of an attention layer.
template <AttentionConfig config>
struct BackwardWorkspace<MultiHeadAttention<config>> {
  using Layer = MultiHeadAttention<config>;  // whose scratch it is
  static constexpr std::size_t tokens = config.context_length,
                               of_layer = kernel::layer_backward_scratch<native_port>(
                                   config.d_out, Layer::kv_width, Layer::head_dim, tokens),
                               of_outputs = Layer::residual_dropout_rate.bits == 0
                                                ? 0
                                                : tokens * config.d_out;
  float scratch[of_layer + of_outputs];  // the second part: gradients of dropped outputs

  // For kernels.
  template <class Port>
  constexpr kernel::LayerBackwardScratch parts() noexcept {
    return kernel::layer_backward_parts<Port>(scratch, config.d_out, Layer::kv_width,
                                              Layer::head_dim, tokens);
  }
};

namespace detail {

template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::LayerGradient layer_gradient(Gradient& gradient) noexcept {
  if constexpr (is_no_gradient<Gradient>)
    return {};
  else
    return {projection_gradient(gradient.query), projection_gradient(gradient.key),
            projection_gradient(gradient.value), projection_gradient(gradient.out_proj)};
}

// The tensors of a backward pass of attention.
template <class Query, class Key, class Value, class OutputGradient, class QueryGradient,
          class KeyGradient, class ValueGradient>
struct AttentionGradients {
  const Query& query_input;
  const Key& key_input;
  const Value& value_input;
  const OutputGradient& output_gradient;
  QueryGradient& query_gradient;
  KeyGradient& key_gradient;
  ValueGradient& value_gradient;
};

// Runs the backward pass on the first rows of every batch element.
template <auto config>
constexpr void backward_batch(const auto& attention, std::size_t tokens, std::size_t source_tokens,
                              const auto& tensors, const auto& mask, auto& gradient,
                              auto& workspace, const auto& replay) noexcept {
  using Query = std::remove_cvref_t<decltype(tensors.query_input)>;
  on_native_port([&](auto port) {
    using Port = decltype(port);
    for (std::size_t i = 0; i < LayoutOf<Query>::batch; ++i)
      kernel::layer_backward<Port>(
          describe(attention), layer_gradient(gradient), workspace.template parts<Port>(),
          kernel::BackwardElement{
              i, tokens, source_tokens, input(tensors.query_input, i), input(tensors.key_input, i),
              input(tensors.value_input, i), input(tensors.output_gradient, i),
              output_or_none(tensors.query_gradient, i), output_or_none(tensors.key_gradient, i),
              output_or_none(tensors.value_gradient, i)},
          layer_mask<config>(mask, tokens, source_tokens), replay);
  });
}

}  // namespace detail

// Self-attention: adds to the gradients of the projections, and writes that of x. x and
// input_gradient are [..., tokens, d_in], output_gradient is [..., tokens, d_out]; input_gradient
// may be x, or output_gradient if both have one shape. Either gradient may be no_gradient.
template <AttentionConfig config, tensor_like TensorX, tensor_like OutputGradient,
          class InputGradient, class Gradient>
constexpr void backward(const MultiHeadAttention<config>& attention, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient,
                        BackwardWorkspace<MultiHeadAttention<config>>& workspace) noexcept {
  backward(attention, x, NoMask{}, output_gradient, input_gradient, gradient, workspace);
}

// The same with the mask of the forward pass.
template <AttentionConfig config, tensor_like TensorX, detail::no_count_nor<void> Mask,
          tensor_like OutputGradient, class InputGradient, class Gradient>
constexpr void backward(const MultiHeadAttention<config>& attention, const TensorX& x,
                        const Mask& mask, const OutputGradient& output_gradient,
                        InputGradient& input_gradient, Gradient& gradient,
                        BackwardWorkspace<MultiHeadAttention<config>>& workspace) noexcept {
  using Layout = detail::LayoutOf<TensorX>;
  if constexpr (detail::check_backward<MultiHeadAttention<config>, OutputGradient,
                                       detail::WithCols<TensorX, config.d_out>, InputGradient,
                                       TensorX, Gradient>())
    detail::backward_batch<config>(
        attention, Layout::rows, Layout::rows,
        detail::AttentionGradients<TensorX, TensorX, TensorX, OutputGradient, InputGradient,
                                   InputGradient, InputGradient>{
            x, x, x, output_gradient, input_gradient, input_gradient, input_gradient},
        mask, gradient, workspace, kernel::NoReplay{});
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
