// SPDX-License-Identifier: MIT
//
// The backward pass of heads that have weights of their own.
#pragma once

#include "tinyattn/training/backward/multi_head_attention.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// All the scratch of the backward pass, for one head at a time.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength, std::size_t NumHeads>
struct BackwardWorkspace<StackedCausalAttention<DIn, DOut, ContextLength, NumHeads>>
    : BackwardWorkspace<CausalAttention<DIn, DOut, ContextLength>> {};

namespace detail {

// Adds to the gradients of head `number` over one element of a batch. That of x goes on from head
// to head.
template <AttentionConfig config>
constexpr void backward_of_head(const MultiHeadAttention<config>& head, std::size_t number,
                                std::size_t element, const auto& x, const auto& output_gradient,
                                auto& input_gradient, auto& gradient, auto& workspace) noexcept {
  constexpr std::size_t tokens = LayoutOf<decltype(x)>::rows;
  const kernel::Dense of_x = input(x, element);
  const kernel::Output d_x = output_or_none(input_gradient, element);
  on_native_port([&](auto port) {
    kernel::layer_backward<decltype(port)>(
        describe(head), layer_gradient(gradient), workspace.parts(),
        kernel::BackwardElement{element, tokens, tokens, of_x, of_x, of_x,
                                input(output_gradient, element).from(0, number * config.d_out), d_x,
                                d_x, d_x, number != 0},
        layer_mask<config>(NoMask{}, tokens, tokens), kernel::NoReplay{});
  });
}

}  // namespace detail

// Adds to the gradients of all heads, and writes that of x: x and input_gradient are [..., tokens,
// DIn], output_gradient is [..., tokens, NumHeads * DOut]. input_gradient may not be x, which every
// head reads. Each may be no_gradient.
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
    for (std::size_t element = 0; element < Layout::batch; ++element)
      for (std::size_t head = 0; head < NumHeads; ++head) {
        const auto backward_into = [&](auto& of_head) {
          detail::backward_of_head(attention.heads[head], head, element, x, output_gradient,
                                   input_gradient, of_head, workspace);
        };
        if constexpr (detail::is_no_gradient<Gradient>)
          backward_into(gradient);
        else
          backward_into(gradient.heads[head]);
      }
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
