// SPDX-License-Identifier: MIT
//
// The compiled library, libtinyattn, for Tensors and layers: compiled::forward(layer, ...) in place
// of layer.forward(...), and tinyattn::compiled::NAME in place of tinyattn::NAME, compute the same
// bits with code that all shapes share. src/README.md shows when that saves flash. On x86-64, the
// library as Meson and CMake build it uses the best instruction set of the processor, whatever the
// flags of the program.
//
// Link with libtinyattn, or compile src/library.cpp with your firmware. Nothing here is constexpr.
// A Conv1d is a layer, too. Operands are tensors, or views without a gap between rows. There is no
// training pass, no call with a cache and no forward_with_weights.
#pragma once

#include "tinyattn/compiled_operations.hpp"
#include "tinyattn/convolution.hpp"
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

// Describes a linear. The members of the other kind stay unwritten: nothing reads them, and a
// firmware with many layers would be longer.
template <class Weight>
void describe_to(tinyattn_linear& to, const kernel::Projection<Weight>& projection) noexcept {
  if constexpr (std::is_same_v<Weight, kernel::Int8Weights>) {
    to.codes = projection.weight.codes;
    to.scales = projection.weight.scales;
  } else {
    to.weight = projection.weight;
  }
  to.bias = projection.bias;
}
template <std::size_t In, std::size_t Out, bool HasBias, Weights weights>
void describe_to(tinyattn_linear& to, const Linear<In, Out, HasBias, weights>& linear) noexcept {
  describe_to(to, describe(linear));
}
inline void describe_to(tinyattn_linear& to, const auto&) noexcept {
  to = {nullptr, nullptr, nullptr, nullptr};
}

// Describes rotary positions, by a table in flash.
template <AttentionConfig config>
void describe_rotary_to(tinyattn_layer& to) noexcept {
  if constexpr (tinyattn::detail::rotates<config>) {
    constexpr const auto& table =
        tinyattn::detail::sinusoids<config.context_length, tinyattn::detail::head_dim<config>,
                                    config.rotary_base>;
    to.rotary = config.rotary == Rotary::interleaved ? TINYATTN_INTERLEAVED : TINYATTN_HALVES;
    to.cosines = table.cosines;
    to.sines = table.sines;
  } else {
    to.rotary = TINYATTN_NO_ROTARY;
  }
}

template <AttentionConfig config>
tinyattn_layer layer_of(const MultiHeadAttention<config>& layer) noexcept {
  static_assert(!tinyattn::detail::has_band<config>,
                "the compiled library has no layer with a window: take layer.forward, or a decoder "
                "of tinyattn_models.h");
  tinyattn_layer to;
  to.d_in = config.d_in;
  to.d_out = config.d_out;
  to.num_heads = config.num_heads;
  to.causal = config.causal;
  to.num_kv_heads = config.num_kv_heads;
  describe_rotary_to<config>(to);
  describe_to(to.query, layer.query);
  describe_to(to.key, layer.key);
  describe_to(to.value, layer.value);
  describe_to(to.out_proj, layer.out_proj);
  return to;
}

// The scratch of a call. With int8 weights it is the whole workspace.
template <AttentionConfig config>
float* scratch_of(const MultiHeadAttention<config>&, auto& workspace) noexcept {
  static_assert(
      config.weights == Weights::f32 ||
      sizeof(workspace) >=
          sizeof(float) *
              (tinyattn::kernel::layer_scratch(
                   config.d_out,
                   tinyattn::detail::kv_heads<config> * tinyattn::detail::head_dim<config>,
                   config.context_length, config.context_length) +
               TINYATTN_LINEAR_SCRATCH_INT8(config.context_length,
                                            TINYATTN_MORE(config.d_in, config.d_out))));
  return reinterpret_cast<float*>(&workspace);
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
  constexpr auto function =
      config.weights == Weights::int8 ? tinyattn_cross_forward_int8 : tinyattn_cross_forward;
  for (std::size_t element = 0; element < LayoutOf<decltype(query_input)>::batch; ++element)
    always(function(&described, num_tokens, source_tokens, matrix_of(query_input, element),
                    matrix_of(key_input, element), matrix_of(value_input, element), &mask,
                    matrix_of(out, element), scratch_of(layer, workspace)));
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
    constexpr auto function =
        config.weights == Weights::int8 ? tinyattn_forward_int8 : tinyattn_forward;
    for (std::size_t element = 0; element < LayoutX::batch; ++element)
      detail::always(function(&described, num_tokens, detail::matrix_of(x, element),
                              detail::matrix_of(out, element),
                              detail::scratch_of(layer, workspace)));
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

// A convolution, as layer.forward(x, out). With int8 weights its scratch is on the stack.
template <Conv1dConfig config, tensor_like TensorX, tensor_like Out>
void forward(const Conv1d<config>& layer, const TensorX& x, Out& out) noexcept {
  using LayoutX = tinyattn::detail::LayoutOf<TensorX>;
  if constexpr (tinyattn::detail::check_convolution<config, TensorX, Out>() &&
                detail::check_whole<TensorX, Out>()) {
    constexpr std::size_t rows = Conv1d<config>::tokens_after(LayoutX::rows);
    tinyattn_convolution described = {config.in,     config.out,     config.kernel,
                                      config.stride, config.padding, {}};
    detail::describe_to(described.linear, describe(layer));
    for (std::size_t element = 0; element < LayoutX::batch; ++element) {
      const float* const from = detail::matrix_of(x, element);
      float* const to = out.data() + element * rows * config.out;
      if constexpr (config.weights == Weights::int8) {
        float scratch[TINYATTN_CONV1D_SCRATCH_INT8(rows, config.kernel * config.in)];
        detail::always(tinyattn_conv1d_int8(&described, LayoutX::rows, from, to, scratch));
      } else {
        detail::always(tinyattn_conv1d(&described, LayoutX::rows, from, to));
      }
    }
  }
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
