// SPDX-License-Identifier: MIT
//
// The backward pass of attention layers. It takes the inputs of the forward pass, and computes
// queries, keys, values and weights again.
#pragma once

#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/training/detail/replay.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/layer.hpp"

#include <concepts>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// All the scratch of the backward pass of an attention layer.
template <AttentionConfig config>
struct BackwardWorkspace<MultiHeadAttention<config>> {
  using Layer = MultiHeadAttention<config>;  // whose scratch it is
  // The most tokens of a call, and the floats of both parts of the scratch.
  static constexpr std::size_t tokens = config.context_length,
                               of_layer = kernel::layer_backward_scratch<native_port>(
                                   config.d_out, Layer::kv_width, Layer::head_dim, tokens),
                               of_outputs = Layer::residual_dropout_rate.bits == 0
                                                ? 0
                                                : tokens * config.d_out;
  float scratch[of_layer + of_outputs];  // the second part: gradients of dropped outputs
  // Of inputs of int8 weights, through which gradients pass to adapters.
  [[no_unique_address]] detail::IntegerWorkspace<detail::integer_width<config>,
                                                 TINYATTN_QUERY_ROWS(tokens)>
      integers;

  // For kernels: divided for the port of the program, in a constant expression too.
  constexpr auto parts() noexcept {
    return kernel::layer_backward_parts<native_port>(scratch, config.d_out, Layer::kv_width,
                                                     Layer::head_dim, tokens, integers.parts());
  }
};

namespace detail {

// The configuration of an attention layer, and whether it has a backward pass.
template <class Layer>
struct AttentionOf {};
template <AttentionConfig of_layer>
struct AttentionOf<MultiHeadAttention<of_layer>> {
  static constexpr AttentionConfig config = of_layer;
  static constexpr bool is_trained = of_layer.weights == Weights::f32;
};
template <class Layer>
concept trained_attention = requires {
  requires AttentionOf<Layer>::is_trained;
};

template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::LayerGradient layer_gradient(Gradient& gradient) noexcept {
  if constexpr (requires { gradient.query; })
    return {projection_gradient(gradient.query), projection_gradient(gradient.key),
            projection_gradient(gradient.value), projection_gradient(gradient.out_proj)};
  else
    return {};
}

// Runs the backward pass on the first rows of every batch element. The gradients of inputs that are
// one tensor are one tensor.
template <class Attention>
constexpr void backward_batch(const Attention& attention, std::size_t tokens,
                              std::size_t source_tokens, const auto& query_input,
                              const auto& key_input, const auto& value_input, const auto& mask,
                              const auto& output_gradient, auto& query_gradient, auto& key_gradient,
                              auto& value_gradient, auto& gradient, auto& workspace,
                              const auto& replay) noexcept {
  on_native_port([&](auto port) {
    using Port = decltype(port);
    for (std::size_t i = 0; i < LayoutOf<decltype(query_input)>::batch; ++i)
      kernel::layer_backward<Port>(
          describe(attention), layer_gradient(gradient), workspace.parts(),
          kernel::BackwardElement{
              i, tokens, source_tokens, input(query_input, i), input(key_input, i),
              input(value_input, i), input(output_gradient, i), output_or_none(query_gradient, i),
              output_or_none(key_gradient, i), output_or_none(value_gradient, i)},
          layer_mask<AttentionOf<Attention>::config>(mask, tokens, source_tokens), replay);
  });
}

// A static_assert diagnoses wrong types of a call; the caller then computes nothing.
template <class Layer, class Query, class Key, class Value, class Mask, class OutputGradient,
          class QueryGradient, class KeyGradient, class ValueGradient, class Gradient,
          bool counted_at_run_time = false>
consteval bool check_attention_backward() noexcept {
  constexpr AttentionConfig config = AttentionOf<Layer>::config;
  using Output = WithCols<Query, config.d_out>;
  if constexpr (check_layer<config, Query, Key, Value, Output, counted_at_run_time>() &&
                check_mask_of<Mask, Query, Key>())
    return check_backward<Layer, OutputGradient, Output, QueryGradient, Query, Gradient>() &&
           check_backward<Layer, OutputGradient, Output, KeyGradient, Key, Gradient>() &&
           check_backward<Layer, OutputGradient, Output, ValueGradient, Value, Gradient>();
  else
    return false;
}

}  // namespace detail

// --- Cross-attention ---

// Adds to the gradients of the projections, and writes those of the inputs: query_input and
// query_gradient are [..., tokens, d_in], the other inputs and their gradients [..., source tokens,
// d_in], output_gradient is [..., tokens, d_out]. One tensor may be the gradient of several inputs
// that are one tensor. A gradient may be an input or output_gradient, if their shapes are equal.
// Each may be no_gradient.
template <detail::trained_attention Layer, tensor_like Query, tensor_like Key, tensor_like Value,
          class Mask, tensor_like OutputGradient, class QueryGradient, class KeyGradient,
          class ValueGradient, class Gradient>
constexpr void backward(const Layer& attention, const Query& query_input, const Key& key_input,
                        const Value& value_input, const Mask& mask,
                        const OutputGradient& output_gradient, QueryGradient& query_gradient,
                        KeyGradient& key_gradient, ValueGradient& value_gradient,
                        Gradient& gradient,
                        BackwardWorkspace<detail::BaseOf<Layer>>& workspace) noexcept {
  if constexpr (detail::check_attention_backward<Layer, Query, Key, Value, Mask, OutputGradient,
                                                 QueryGradient, KeyGradient, ValueGradient,
                                                 Gradient>())
    detail::backward_batch(attention, detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows,
                           query_input, key_input, value_input, mask, output_gradient,
                           query_gradient, key_gradient, value_gradient, gradient, workspace,
                           kernel::NoReplay{});
}
template <detail::trained_attention Layer, tensor_like Query, tensor_like Key, tensor_like Value,
          tensor_like OutputGradient, class QueryGradient, class KeyGradient, class ValueGradient,
          class Gradient>
constexpr void backward(const Layer& attention, const Query& query_input, const Key& key_input,
                        const Value& value_input, const OutputGradient& output_gradient,
                        QueryGradient& query_gradient, KeyGradient& key_gradient,
                        ValueGradient& value_gradient, Gradient& gradient,
                        BackwardWorkspace<detail::BaseOf<Layer>>& workspace) noexcept {
  backward(attention, query_input, key_input, value_input, NoMask{}, output_gradient,
           query_gradient, key_gradient, value_gradient, gradient, workspace);
}

// The same for the first num_tokens rows of query_input and the first num_source_tokens rows of the
// other inputs: other rows are neither read nor written. If there are too many, changes nothing and
// returns too_many_tokens.
template <detail::trained_attention Layer, tensor_like Query, tensor_like Key, tensor_like Value,
          class Mask, tensor_like OutputGradient, class QueryGradient, class KeyGradient,
          class ValueGradient, class Gradient>
constexpr Status backward(const Layer& attention, const Query& query_input, const Key& key_input,
                          const Value& value_input, std::size_t num_tokens,
                          std::size_t num_source_tokens, const Mask& mask,
                          const OutputGradient& output_gradient, QueryGradient& query_gradient,
                          KeyGradient& key_gradient, ValueGradient& value_gradient,
                          Gradient& gradient,
                          BackwardWorkspace<detail::BaseOf<Layer>>& workspace) noexcept {
  if constexpr (detail::check_attention_backward<Layer, Query, Key, Value, Mask, OutputGradient,
                                                 QueryGradient, KeyGradient, ValueGradient,
                                                 Gradient, true>()) {
    constexpr std::size_t most = detail::AttentionOf<Layer>::config.context_length;
    if (num_tokens > kernel::minimum(most, detail::LayoutOf<Query>::rows) ||
        num_source_tokens > kernel::minimum(most, detail::LayoutOf<Key>::rows))
      return Status::too_many_tokens;
    detail::backward_batch(attention, num_tokens, num_source_tokens, query_input, key_input,
                           value_input, mask, output_gradient, query_gradient, key_gradient,
                           value_gradient, gradient, workspace, kernel::NoReplay{});
  }
  return Status::ok;
}

// --- Self-attention ---

// The same where all inputs are x: the gradient of x is one chain, of the product of the queries,
// which those of keys and values continue. x and input_gradient are [..., tokens, d_in],
// output_gradient is [..., tokens, d_out]; input_gradient may be x, or output_gradient if both have
// one shape. Either gradient may be no_gradient.
template <detail::trained_attention Layer, tensor_like TensorX, tensor_like OutputGradient,
          class InputGradient, class Gradient>
constexpr void backward(const Layer& attention, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient,
                        BackwardWorkspace<detail::BaseOf<Layer>>& workspace) noexcept {
  backward(attention, x, x, x, NoMask{}, output_gradient, input_gradient, input_gradient,
           input_gradient, gradient, workspace);
}

// The same with the mask of the forward pass.
template <detail::trained_attention Layer, tensor_like TensorX, detail::no_count_nor<void> Mask,
          tensor_like OutputGradient, class InputGradient, class Gradient>
constexpr void backward(const Layer& attention, const TensorX& x, const Mask& mask,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient,
                        BackwardWorkspace<detail::BaseOf<Layer>>& workspace) noexcept {
  backward(attention, x, x, x, mask, output_gradient, input_gradient, input_gradient,
           input_gradient, gradient, workspace);
}

// The same for the first num_tokens rows, with a mask or without.
template <detail::trained_attention Layer, tensor_like TensorX, class Mask,
          tensor_like OutputGradient, class InputGradient, class Gradient>
constexpr Status backward(const Layer& attention, const TensorX& x, std::size_t num_tokens,
                          const Mask& mask, const OutputGradient& output_gradient,
                          InputGradient& input_gradient, Gradient& gradient,
                          BackwardWorkspace<detail::BaseOf<Layer>>& workspace) noexcept {
  return backward(attention, x, x, x, num_tokens, num_tokens, mask, output_gradient, input_gradient,
                  input_gradient, input_gradient, gradient, workspace);
}
template <detail::trained_attention Layer, tensor_like TensorX, tensor_like OutputGradient,
          class InputGradient, class Gradient>
constexpr Status backward(const Layer& attention, const TensorX& x, std::size_t num_tokens,
                          const OutputGradient& output_gradient, InputGradient& input_gradient,
                          Gradient& gradient,
                          BackwardWorkspace<detail::BaseOf<Layer>>& workspace) noexcept {
  return backward(attention, x, num_tokens, NoMask{}, output_gradient, input_gradient, gradient,
                  workspace);
}

// The same after a training pass. `generator` is a Philox4x32 as it stood before forward.
template <detail::trained_attention Layer, tensor_like TensorX, tensor_like OutputGradient,
          class InputGradient, class Gradient>
constexpr void backward(const Layer& attention, const TensorX& x,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient, BackwardWorkspace<detail::BaseOf<Layer>>& workspace,
                        const Philox4x32& generator) noexcept {
  backward(attention, x, NoMask{}, output_gradient, input_gradient, gradient, workspace, generator);
}
template <detail::trained_attention Layer, tensor_like TensorX, detail::no_count_nor<void> Mask,
          tensor_like OutputGradient, class InputGradient, class Gradient>
constexpr void backward(const Layer& attention, const TensorX& x, const Mask& mask,
                        const OutputGradient& output_gradient, InputGradient& input_gradient,
                        Gradient& gradient, BackwardWorkspace<detail::BaseOf<Layer>>& workspace,
                        const Philox4x32& generator) noexcept {
  if constexpr (detail::check_attention_backward<Layer, TensorX, TensorX, TensorX, Mask,
                                                 OutputGradient, InputGradient, InputGradient,
                                                 InputGradient, Gradient>()) {
    using Base = detail::BaseOf<Layer>;
    constexpr std::size_t tokens = detail::LayoutOf<TensorX>::rows,
                          batch = detail::LayoutOf<TensorX>::batch;
    const detail::WeightsReplay<Base> replay{generator, tokens};
    if constexpr (Base::residual_dropout_rate.bits == 0)
      return detail::backward_batch(attention, tokens, tokens, x, x, x, mask, output_gradient,
                                    input_gradient, input_gradient, input_gradient, gradient,
                                    workspace, replay);
    const Philox4x32 of_outputs =
        detail::stream_after(generator, detail::draws(Base::dropout_rate) ? 1 : 0);
    on_native_port([&](auto port) {
      using Port = decltype(port);
      const kernel::Output dropped{workspace.scratch + workspace.of_layer,
                                   detail::AttentionOf<Layer>::config.d_out};
      for (std::size_t i = 0; i < batch; ++i) {
        detail::drop_rows_again<Port>(i * tokens, tokens, dropped.stride,
                                      detail::input(output_gradient, i), dropped,
                                      Base::residual_dropout_rate, of_outputs);
        kernel::layer_backward<Port>(
            describe(attention), detail::layer_gradient(gradient), workspace.parts(),
            kernel::BackwardElement{i, tokens, tokens, detail::input(x, i), detail::input(x, i),
                                    detail::input(x, i), dropped,
                                    detail::output_or_none(input_gradient, i),
                                    detail::output_or_none(input_gradient, i),
                                    detail::output_or_none(input_gradient, i)},
            detail::layer_mask<detail::AttentionOf<Layer>::config>(mask, tokens, tokens), replay);
      }
    });
  }
}

template <detail::trained_attention Layer, std::same_as<Mt19937> Generator>
constexpr void backward(const Layer&, detail::Anything, detail::Anything, detail::Anything,
                        detail::Anything, BackwardWorkspace<detail::BaseOf<Layer>>&,
                        const Generator&) noexcept {
  static_cast<void>(detail::check_replay<Generator>());
}
template <detail::trained_attention Layer, std::same_as<Mt19937> Generator>
constexpr void backward(const Layer&, detail::Anything, detail::Anything, detail::Anything,
                        detail::Anything, detail::Anything,
                        BackwardWorkspace<detail::BaseOf<Layer>>&, const Generator&) noexcept {
  static_cast<void>(detail::check_replay<Generator>());
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
