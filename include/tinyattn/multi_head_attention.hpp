// SPDX-License-Identifier: MIT
//
// Attention layers: MultiHeadAttention, which attention_layer.hpp holds, and the simpler ones on
// the way to it.
#pragma once

#include "tinyattn/attention_layer.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// One head, no mask, no projection.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength>
using SelfAttention = MultiHeadAttention<AttentionConfig{.d_in = DIn,
                                                         .d_out = DOut,
                                                         .context_length = ContextLength,
                                                         .causal = false,
                                                         .out_proj = false}>;

// One head, causal, no projection.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength>
using CausalAttention = MultiHeadAttention<AttentionConfig{.d_in = DIn,
                                                           .d_out = DOut,
                                                           .context_length = ContextLength,
                                                           .causal = true,
                                                           .out_proj = false}>;

// Heads side by side, each with weights of its own: head h writes DOut columns from h * DOut on.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength, std::size_t NumHeads>
struct StackedCausalAttention {
  static_assert(NumHeads != 0, "num_heads must not be zero");

  using Head = CausalAttention<DIn, DOut, ContextLength>;  // one of them
  using Workspace = typename Head::Workspace;    // all the scratch of a call; heads take turns
  static constexpr std::size_t head_dim = DOut;  // the columns that a head writes
  static constexpr std::size_t parameter_count =
      detail::count_parameters<StackedCausalAttention>();  // floats

  Head heads[NumHeads];  // their weights, head after head

  // By value, for the compiler and for small shapes: result and workspace stand on the stack.
  template <tensor_like TensorX>
  constexpr auto operator()(const TensorX& x) const noexcept {
    detail::WithCols<TensorX, DOut * NumHeads> out;
    Workspace workspace;
    forward(x, out, workspace);
    return out;
  }
  constexpr detail::Refused operator()(const detail::no_tensor auto& x) const noexcept {
    return detail::refuse(x);
  }

  // x is [..., tokens, DIn], out [..., tokens, NumHeads * DOut]. `out` may not be x: the second
  // head reads it again.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    using LayoutX = detail::LayoutOf<TensorX>;
    using LayoutOut = detail::LayoutOf<Out>;
    constexpr bool columns = LayoutX::cols == DIn,
                   fits = detail::same_shape<Out, detail::WithCols<TensorX, DOut * NumHeads>>;
    static_assert(columns, "x must have d_in columns");
    static_assert(detail::holds_floats<TensorX> && detail::is_writable<Out>,
                  "x and out must hold floats, and out not be const");
    static_assert(!columns || fits, "out must have the tokens of x and d_out * num_heads columns");
    if constexpr (columns && fits && detail::is_writable<Out>)
      for (std::size_t item = 0; item < LayoutX::batch; ++item)
        for (std::size_t head = 0; head < NumHeads; ++head) {
          const MatrixView<const float, LayoutX::rows, DIn, LayoutX::stride> item_x{
              detail::item(x, item)};
          MatrixView<float, LayoutX::rows, DOut, LayoutOut::stride> head_out{
              detail::item(out, item) + head * DOut};
          heads[head].forward(item_x, head_out, workspace);
        }
  }

  template <class TensorX = detail::Anything>
  constexpr detail::Refused forward(const TensorX&, ...) const noexcept {
    static_assert(detail::no_such_call<TensorX>,
                  "forward takes (x, out, workspace): out is a tensor or a MatrixView, neither "
                  "const nor a temporary, and workspace is this layer's Workspace");
    return {};
  }

  friend constexpr bool operator==(const StackedCausalAttention&,
                                   const StackedCausalAttention&) = default;

  // By name, for for_each_parameter and initialize.
  static constexpr auto members(auto& self, const auto& use) {
    return use(detail::names<"heads">, self.heads);
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
