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
  static_assert(detail::check_heads<config>());
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

template <class Layer>
struct AttentionOf {};
template <AttentionConfig of_layer>
struct AttentionOf<MultiHeadAttention<of_layer>> {
  static constexpr AttentionConfig config = of_layer;
};
template <class Layer>
concept trained_attention = has_backward<Layer, AttentionOf<BaseOf<Layer>>::config.weights>;

template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::LayerGradient layer_gradient(Gradient& gradient) noexcept {
  if constexpr (requires { gradient.query; })
    return {projection_gradient(gradient.query), projection_gradient(gradient.key),
            projection_gradient(gradient.value), projection_gradient(gradient.out_proj)};
  else
    return {};
}

// Runs the backward pass on the first rows of every batch element. The gradients of inputs that are
// one tensor are one tensor. Gradients of outputs that forward dropped are dropped again.
template <class Said, class Layer>
constexpr void backward_batch(const Layer& attention, std::size_t tokens, std::size_t source_tokens,
                              const auto& replay, auto&... arguments) noexcept {
  using Base = BaseOf<Layer>;
  decltype(auto) mask = mask_of<Said>(arguments...);
  auto& workspace = nth<Said::workspace>(arguments...);
  on_native_port([&](auto port) {
    using Port = decltype(port);
    for (std::size_t i = 0; i < LayoutOf<decltype(nth<0>(arguments...))>::batch; ++i) {
      kernel::Dense d_out = input(nth<Said::d_out>(arguments...), i);
      if constexpr (Said::has_generator && Base::residual_dropout_rate.bits != 0) {
        const kernel::Output dropped{workspace.scratch + workspace.of_layer,
                                     AttentionOf<Base>::config.d_out};
        kernel::copy_rows<Port>(tokens, dropped.stride, d_out, dropped);
        drop_rows_again<Port>(i * tokens, tokens, dropped.stride, dropped,
                              Base::residual_dropout_rate,
                              stream_after(replay.stream, draws(Base::dropout_rate) ? 1 : 0));
        d_out = dropped;
      }
      kernel::layer_backward<Port>(
          describe(attention), layer_gradient(nth<Said::gradient>(arguments...)), workspace.parts(),
          kernel::BackwardElement{i, tokens, source_tokens, input(nth<0>(arguments...), i),
                                  input(nth<Said::key>(arguments...), i),
                                  input(nth<Said::value>(arguments...), i), d_out,
                                  output_or_none(nth<Said::d_query>(arguments...), i),
                                  output_or_none(nth<Said::d_key>(arguments...), i),
                                  output_or_none(nth<Said::d_value>(arguments...), i)},
          layer_mask<AttentionOf<Base>::config>(mask, tokens, source_tokens), replay);
    }
  });
}

// A static_assert diagnoses wrong types of a call; the caller then computes nothing.
template <class Layer, class Said, class... Arguments>
consteval bool check_attention_backward() noexcept {
  constexpr AttentionConfig config = AttentionOf<BaseOf<Layer>>::config;
  using Query = ArgumentAt<0, Arguments...>;
  using Key = ArgumentAt<Said::key, Arguments...>;
  using Value = ArgumentAt<Said::value, Arguments...>;
  using Output = WithCols<Query, config.d_out>;
  using OutputGradient = ArgumentAt<Said::d_out, Arguments...>;
  using Gradient = std::remove_reference_t<WrittenAt<Said::gradient, Arguments...>>;
  if constexpr (check_layer<config, Query, Key, Value, Output, Said::has_counts>() &&
                check_mask_of<MaskOf<Said, Arguments...>, Query, Key>())
    return check_backward<Layer, OutputGradient, Output, WrittenAt<Said::d_query, Arguments...>,
                          Query, Gradient>() &&
           check_backward<Layer, OutputGradient, Output, WrittenAt<Said::d_key, Arguments...>, Key,
                          Gradient>() &&
           check_backward<Layer, OutputGradient, Output, WrittenAt<Said::d_value, Arguments...>,
                          Value, Gradient>();
  else
    return false;
}

// Whether the arguments after an attention layer are a call of its backward pass.
template <class Layer, class... Arguments>
consteval bool is_backward_of_attention() noexcept {
  using Said = BackwardCall<0, Arguments...>;
  return is_backward<Layer, Said, Arguments...>() &&
         !(Said::has_generator && (Said::num_inputs != 1 || Said::has_counts));
}

template <class... Types>
constexpr auto backward_of_attention(const auto& attention, auto&... arguments) noexcept {
  using Said = BackwardCall<0, Types...>;
  using Layer = std::remove_cvref_t<decltype(attention)>;
  if constexpr (check_attention_backward<Layer, Said, Types...>()) {
    using kernel::minimum;
    constexpr std::size_t most = AttentionOf<BaseOf<Layer>>::config.context_length;
    const std::size_t tokens = rows_of<Said, 0, Said::tokens>(arguments...),
                      sources = rows_of<Said, Said::key, Said::source_tokens>(arguments...);
    if constexpr (Said::has_counts)
      if (tokens > minimum(most, LayoutOf<ArgumentAt<0, Types...>>::rows) ||
          sources > minimum(most, LayoutOf<ArgumentAt<Said::key, Types...>>::rows))
        return Status::too_many_tokens;
    if constexpr (!Said::has_generator)
      backward_batch<Said>(attention, tokens, sources, kernel::NoReplay{}, arguments...);
    else if constexpr (check_replay<ArgumentAt<Said::generator, Types...>>())
      backward_batch<Said>(attention, tokens, sources,
                           WeightsReplay<BaseOf<Layer>>{nth<Said::generator>(arguments...), tokens},
                           arguments...);
  }
  return ResultOf<Said>();
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
// training pass, in its state before that pass.
//
// The gradient of x is one chain, of the product of the queries, which those of keys and values
// continue. One tensor may be the gradient of several inputs that are one tensor. A gradient may be
// an input or output_gradient, if their shapes are equal.
template <detail::trained_attention Layer, class... Arguments>
requires(detail::is_backward_of_attention<Layer, Arguments...>()) constexpr auto backward(
    const Layer& attention, Arguments&&... arguments) noexcept {
  return detail::backward_of_attention<Arguments...>(attention, arguments...);
}

// --- Heads that have weights of their own ---

// All the scratch of the backward pass, for one head at a time.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength, std::size_t NumHeads>
struct BackwardWorkspace<StackedCausalAttention<DIn, DOut, ContextLength, NumHeads>>
    : BackwardWorkspace<CausalAttention<DIn, DOut, ContextLength>> {};

// Adds to the gradients of all heads, and writes that of x, which goes on from head to head: x and
// input_gradient are [..., tokens, DIn], output_gradient is [..., tokens, NumHeads * DOut].
// input_gradient may not be x, which every head reads. Each may be no_gradient.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength, std::size_t NumHeads,
          tensor_like TensorX, tensor_like OutputGradient, class InputGradient, class Gradient>
constexpr void backward(
    const StackedCausalAttention<DIn, DOut, ContextLength, NumHeads>& attention, const TensorX& x,
    const OutputGradient& output_gradient, InputGradient& input_gradient, Gradient& gradient,
    BackwardWorkspace<StackedCausalAttention<DIn, DOut, ContextLength, NumHeads>>&
        workspace) noexcept {
  using Module = StackedCausalAttention<DIn, DOut, ContextLength, NumHeads>;
  using Layout = detail::LayoutOf<TensorX>;
  constexpr bool fits = Layout::rows <= ContextLength;
  static_assert(fits, "more tokens than context_length");
  if constexpr (fits && detail::check_backward_input<DIn, TensorX>() &&
                detail::check_backward<Module, OutputGradient,
                                       detail::WithCols<TensorX, DOut * NumHeads>, InputGradient,
                                       TensorX, Gradient>())
    on_native_port([&](auto port) {
      constexpr std::size_t tokens = Layout::rows;
      for (std::size_t element = 0; element < Layout::batch; ++element)
        for (std::size_t head = 0; head < NumHeads; ++head) {
          const kernel::Dense of_x = detail::input(x, element);
          const kernel::Output d_x = detail::output_or_none(input_gradient, element);
          kernel::LayerGradient of_head;
          if constexpr (!detail::is_no_gradient<Gradient>)
            of_head = detail::layer_gradient(gradient.heads[head]);
          kernel::layer_backward<decltype(port)>(
              describe(attention.heads[head]), of_head, workspace.parts(),
              kernel::BackwardElement{element, tokens, tokens, of_x, of_x, of_x,
                                      detail::input(output_gradient, element).from(0, head * DOut),
                                      d_x, d_x, d_x, head != 0},
              kernel::and_causal(kernel::no_mask(tokens)), kernel::NoReplay{});
        }
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
