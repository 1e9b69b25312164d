// SPDX-License-Identifier: MIT
//
// The compiled library, libtinyattn, for Tensors and layers: compiled::forward(layer, ...) in place
// of layer.forward(...), and tinyattn::compiled::NAME in place of tinyattn::NAME, compute the same
// bits with code that all shapes share. src/README.md shows when that saves flash. On x86-64, the
// library as Meson and CMake build it uses the best instruction set of the processor, whatever the
// flags of the program.
//
// Link with libtinyattn, or compile src/library.cpp with your firmware. Nothing here is constexpr.
// Operands are tensors, or views without a gap between rows. There is no training pass, no call
// with a cache and no forward_with_weights.
#pragma once

#include "tinyattn/compiled_operations.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tinyattn.h"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { namespace compiled { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Requires a mask of one row. Rows of a mask for all tokens are longer than a number of source
// tokens known at run time, and a tinyattn_mask has no stride.
template <class Mask>
consteval bool check_one_row() noexcept {
  constexpr bool has_rows = requires(Mask mask) { requires decltype(mask.tensor)::rank != 1; };
  static_assert(!has_rows, "with token counts, a mask of the compiled library has one row");
  return !has_rows;
}

template <std::size_t In, std::size_t Out, bool HasBias>
tinyattn_linear linear_of(const Linear<In, Out, HasBias>& linear) noexcept {
  if constexpr (HasBias)
    return {linear.weight.data(), linear.bias.data()};
  else
    return {linear.weight.data(), nullptr};
}
inline tinyattn_linear linear_of(const auto&) noexcept { return {nullptr, nullptr}; }

template <AttentionConfig config>
tinyattn_layer layer_of(const MultiHeadAttention<config>& layer) noexcept {
  static_assert(
      !tinyattn::detail::is_grouped<config>,
      "the compiled library has no layer with grouped key heads or rotary positions: take "
      "layer.forward, or a decoder of tinyattn_models.h");
  return layer.members(layer, [](const auto&, const auto&... linears) -> tinyattn_layer {
    return {config.d_in, config.d_out, config.num_heads, config.causal, linear_of(linears)...};
  });
}

// Calls tinyattn_cross_forward for every batch element.
template <AttentionConfig config>
void forward_batch(const MultiHeadAttention<config>& layer, const auto& query_input,
                   const auto& key_input, const auto& value_input, std::size_t num_tokens,
                   std::size_t num_source_tokens, tinyattn_mask mask, auto& out,
                   auto& workspace) noexcept {
  // The library requires a source token. If there is none, it gets one that is masked for all
  // queries.
  constexpr bool masked = true;
  if (num_source_tokens == 0) mask = {TINYATTN_BLOCK_MASK, true, &masked, nullptr};
  const std::size_t source_tokens = num_source_tokens == 0 ? 1 : num_source_tokens;
  const tinyattn_layer described = layer_of(layer);
  for (std::size_t element = 0; element < LayoutOf<decltype(query_input)>::batch; ++element)
    always(tinyattn_cross_forward(&described, num_tokens, source_tokens,
                                  matrix_of(query_input, element), matrix_of(key_input, element),
                                  matrix_of(value_input, element), &mask, matrix_of(out, element),
                                  workspace.scratch));
}

}  // namespace detail

// The workspace of compiled::forward: that of the layer itself.
template <class Layer>
using Workspace = typename Layer::Workspace;

// Cross-attention, as layer.forward(query_input, key_input, value_input, num_tokens,
// num_source_tokens, mask, out, workspace). The tensor of a mask must be one row for all queries,
// [source tokens].
template <AttentionConfig config, tensor_like Query, tensor_like Key, tensor_like Value, class Mask,
          tensor_like Out>
Status forward(const MultiHeadAttention<config>& layer, const Query& query_input,
               const Key& key_input, const Value& value_input, std::size_t num_tokens,
               std::size_t num_source_tokens, const Mask& mask, Out& out,
               typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  using kernel::minimum;
  constexpr std::size_t tokens = detail::LayoutOf<Query>::rows;
  constexpr std::size_t source_tokens = detail::LayoutOf<Key>::rows;
  if constexpr (tinyattn::detail::check_layer<config, Query, Key, Value, Out, true>() &&
                tinyattn::detail::check_mask<Mask, tokens, source_tokens>() &&
                detail::check_whole<Query, Key, Value, Out>() && detail::check_one_row<Mask>()) {
    if (num_tokens > minimum(config.context_length, tokens) ||
        num_source_tokens > minimum(config.context_length, source_tokens))
      return Status::too_many_tokens;
    detail::forward_batch(layer, query_input, key_input, value_input, num_tokens, num_source_tokens,
                          detail::mask_of(mask), out, workspace);
  }
  return Status::ok;
}

template <AttentionConfig config, tensor_like Query, tensor_like Key, tensor_like Value,
          tensor_like Out>
Status forward(const MultiHeadAttention<config>& layer, const Query& query_input,
               const Key& key_input, const Value& value_input, std::size_t num_tokens,
               std::size_t num_source_tokens, Out& out,
               typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  return forward(layer, query_input, key_input, value_input, num_tokens, num_source_tokens,
                 NoMask{}, out, workspace);
}

// Self-attention, as layer.forward(x, num_tokens, mask, out, workspace).
template <AttentionConfig config, tensor_like TensorX, class Mask, tensor_like Out>
Status forward(const MultiHeadAttention<config>& layer, const TensorX& x, std::size_t num_tokens,
               const Mask& mask, Out& out,
               typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  return forward(layer, x, x, x, num_tokens, num_tokens, mask, out, workspace);
}

// Self-attention, as layer.forward(x, num_tokens, out, workspace). A firmware that calls only this
// form, or the one without num_tokens, contains no code for masks.
template <AttentionConfig config, tensor_like TensorX, tensor_like Out>
Status forward(const MultiHeadAttention<config>& layer, const TensorX& x, std::size_t num_tokens,
               Out& out, typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  using LayoutX = tinyattn::detail::LayoutOf<TensorX>;
  if constexpr (tinyattn::detail::check_layer<config, TensorX, TensorX, TensorX, Out, true>() &&
                detail::check_whole<TensorX, Out>()) {
    if (num_tokens > config.context_length || num_tokens > LayoutX::rows)
      return Status::too_many_tokens;
    const tinyattn_layer described = detail::layer_of(layer);
    for (std::size_t element = 0; element < LayoutX::batch; ++element)
      detail::always(tinyattn_forward(&described, num_tokens, detail::matrix_of(x, element),
                                      detail::matrix_of(out, element), workspace.scratch));
  }
  return Status::ok;
}

// Cross-attention, as layer.forward(query_input, key_input, value_input, mask, out, workspace).
// `out` may be query_input.
template <AttentionConfig config, tensor_like Query, tensor_like Key, tensor_like Value, class Mask,
          tensor_like Out>
void forward(const MultiHeadAttention<config>& layer, const Query& query_input,
             const Key& key_input, const Value& value_input, const Mask& mask, Out& out,
             typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  constexpr std::size_t tokens = detail::LayoutOf<Query>::rows;
  constexpr std::size_t source_tokens = detail::LayoutOf<Key>::rows;
  if constexpr (tinyattn::detail::check_layer<config, Query, Key, Value, Out>() &&
                tinyattn::detail::check_mask<Mask, tokens, source_tokens>() &&
                detail::check_whole<Query, Key, Value, Out>())
    detail::forward_batch(layer, query_input, key_input, value_input, tokens, source_tokens,
                          detail::mask_of(mask), out, workspace);
}

template <AttentionConfig config, tensor_like Query, tensor_like Key, tensor_like Value,
          tensor_like Out>
void forward(const MultiHeadAttention<config>& layer, const Query& query_input,
             const Key& key_input, const Value& value_input, Out& out,
             typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  forward(layer, query_input, key_input, value_input, NoMask{}, out, workspace);
}

// Self-attention with a mask in addition to config.causal. `out` may be x.
template <AttentionConfig config, tensor_like TensorX, class Mask, tensor_like Out>
requires(!std::is_convertible_v<Mask, std::size_t>) void forward(
    const MultiHeadAttention<config>& layer, const TensorX& x, const Mask& mask, Out& out,
    typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  forward(layer, x, x, x, mask, out, workspace);
}

// Self-attention. `out` may be x.
template <AttentionConfig config, tensor_like TensorX, tensor_like Out>
void forward(const MultiHeadAttention<config>& layer, const TensorX& x, Out& out,
             typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  if constexpr (tinyattn::detail::check_layer<config, TensorX, TensorX, TensorX, Out>())
    static_cast<void>(forward(layer, x, tinyattn::detail::LayoutOf<TensorX>::rows, out, workspace));
}

template <class Layer>
Diagnosed forward(const Layer&, ...) noexcept {
  static_assert(no_such_call<Layer>,
                "compiled::forward takes (layer, x, out, workspace), with num_tokens and a mask "
                "after x, or three inputs for x; out is neither const nor a temporary, and "
                "workspace is this layer's Workspace");
  return {};
}

}}}  // namespace tinyattn::compiled::TINYATTN_PORT_NAMESPACE

TINYATTN_END
