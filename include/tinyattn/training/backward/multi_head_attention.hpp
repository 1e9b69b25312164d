// SPDX-License-Identifier: MIT
//
// The backward pass of attention layers. It takes the inputs of the forward pass, and computes
// queries, keys, values and weights again.
#pragma once

#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/training/detail/backward_call.hpp"
#include "tinyattn/training/detail/replay.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/layer.hpp"

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

// The backward pass of self-attention after a training pass with dropout of outputs: drops their
// gradients again.
template <class Port, class Layer>
constexpr void backward_dropped(const Layer& attention, const auto& x, const auto& mask,
                                const auto& output_gradient, auto& input_gradient, auto& gradient,
                                auto& workspace, const auto& replay,
                                const Philox4x32& generator) noexcept {
  using Base = BaseOf<Layer>;
  using LayoutX = LayoutOf<decltype(x)>;
  constexpr auto config = AttentionOf<Layer>::config;
  constexpr std::size_t tokens = LayoutX::rows;
  const Philox4x32 of_outputs = stream_after(generator, draws(Base::dropout_rate) ? 1 : 0);
  const kernel::Output dropped{workspace.scratch + workspace.of_layer, config.d_out};
  for (std::size_t i = 0; i < LayoutX::batch; ++i) {
    drop_rows_again<Port>(i * tokens, tokens, dropped.stride, input(output_gradient, i), dropped,
                          Base::residual_dropout_rate, of_outputs);
    const kernel::Output d_x = output_or_none(input_gradient, i);
    kernel::layer_backward<Port>(
        describe(attention), layer_gradient(gradient), workspace.parts(),
        kernel::BackwardElement{i, tokens, tokens, input(x, i), input(x, i), input(x, i), dropped,
                                d_x, d_x, d_x},
        layer_mask<config>(mask, tokens, tokens), replay);
  }
}

// Whether the arguments after an attention layer are a call of its backward pass.
template <class Layer, class... Arguments>
consteval bool is_backward_of_attention() noexcept {
  using Said = BackwardCall<Arguments...>;
  return is_backward<Layer, Arguments...>() &&
         !(Said::has_generator && (Said::num_inputs != 1 || Said::has_counts));
}

template <class... Types>
constexpr auto backward_of_attention(const auto& attention, auto&... arguments) noexcept {
  using Said = BackwardCall<Types...>;
  using Layer = std::remove_cvref_t<decltype(attention)>;
  using Base = BaseOf<Layer>;
  const auto& query = nth<0>(arguments...);
  const auto& key = nth<Said::key>(arguments...);
  const auto& value = nth<Said::value>(arguments...);
  const auto& d_out = nth<Said::d_out>(arguments...);
  decltype(auto) mask = mask_of<Said>(arguments...);
  auto& d_query = nth<Said::d_query>(arguments...);
  auto& d_key = nth<Said::d_key>(arguments...);
  auto& d_value = nth<Said::d_value>(arguments...);
  auto& gradient = nth<Said::gradient>(arguments...);
  auto& workspace = nth<Said::workspace>(arguments...);
  constexpr bool fits = check_attention_backward<
      Layer, ArgumentAt<0, Types...>, ArgumentAt<Said::key, Types...>,
      ArgumentAt<Said::value, Types...>, std::remove_cvref_t<decltype(mask)>,
      ArgumentAt<Said::d_out, Types...>, decltype(d_query), decltype(d_key), decltype(d_value),
      std::remove_reference_t<decltype(gradient)>, Said::has_counts>();
  const std::size_t tokens = rows_of<Said, 0, Said::tokens>(arguments...),
                    sources = rows_of<Said, Said::key, Said::source_tokens>(arguments...);
  const auto run = [&](const auto& replay) {
    backward_batch(attention, tokens, sources, query, key, value, mask, d_out, d_query, d_key,
                   d_value, gradient, workspace, replay);
  };
  if constexpr (Said::has_counts) {
    if constexpr (fits) {
      constexpr std::size_t most = AttentionOf<Layer>::config.context_length;
      if (tokens > kernel::minimum(most, LayoutOf<decltype(query)>::rows) ||
          sources > kernel::minimum(most, LayoutOf<decltype(key)>::rows))
        return Status::too_many_tokens;
      run(kernel::NoReplay{});
    }
    return Status::ok;
  } else if constexpr (fits && !Said::has_generator) {
    run(kernel::NoReplay{});
  } else if constexpr (fits) {
    const auto& generator = nth<Said::generator>(arguments...);
    if constexpr (check_replay<std::remove_cvref_t<decltype(generator)>>()) {
      const WeightsReplay<Base> replay{generator, tokens};
      if constexpr (Base::residual_dropout_rate.bits == 0)
        run(replay);
      else
        on_native_port([&](auto port) {
          backward_dropped<decltype(port)>(attention, query, mask, d_out, d_query, gradient,
                                           workspace, replay, generator);
        });
    }
  }
}

}  // namespace detail

// Adds to the gradients of the projections, and writes those of the inputs, of self-attention or
// cross-attention:
//
//   backward(layer, x, output_gradient, input_gradient, gradient, workspace)
//   backward(layer, query_input, key_input, value_input, output_gradient, query_gradient,
//            key_gradient, value_gradient, gradient, workspace)
//
// Shapes are those of the forward pass; each gradient may be no_gradient. After the inputs there
// may be num_tokens, or num_tokens and num_source_tokens, and the mask of the forward pass. Other
// rows are then neither read nor written; if there are too many, changes nothing and returns
// too_many_tokens, else ok. After the workspace of self-attention there may be the Philox4x32 of a
// training pass, as it stood before forward.
//
// The gradient of x is one chain, of the product of the queries, which those of keys and values
// continue. One tensor may be the gradient of several inputs that are one tensor. A gradient may be
// an input or output_gradient, if their shapes are equal.
template <detail::trained_attention Layer, class... Arguments>
requires(detail::is_backward_of_attention<Layer, Arguments...>()) constexpr auto backward(
    const Layer& attention, Arguments&&... arguments) noexcept {
  return detail::backward_of_attention<Arguments...>(attention, arguments...);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
