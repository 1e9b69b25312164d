// SPDX-License-Identifier: MIT
//
// The compiled library, libtinyattn, for Tensors and layers: compiled::forward(layer, ...) in place
// of layer.forward(...) computes the same bits with code that all shapes share; the operations are
// functions in C. src/README.md shows when that saves flash. On x86-64, the
// library as Meson and CMake build it uses the best instruction set of the processor, whatever the
// flags of the program.
//
// Link with libtinyattn, or compile src/library.cpp with your firmware. Nothing here is constexpr.
// A Conv1d is a layer, too. Operands are tensors, or views without a gap between rows. There is no
// training pass, no call with a cache and no forward_with_weights.
#pragma once

#include "tinyattn/convolution.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tinyattn.h"

#include <cstddef>
#include <type_traits>

namespace tinyattn { namespace compiled { inline namespace TINYATTN_PORT_NAMESPACE {

using tinyattn::detail::Diagnosed;
using tinyattn::detail::no_such_call;

namespace detail {

template <class TensorM>
using LayoutOf = tinyattn::detail::LayoutOf<TensorM>;
using tinyattn::detail::matrix_at;

template <class... Ms>
consteval bool check_whole() noexcept {
  constexpr bool whole = (... && (LayoutOf<Ms>::stride == LayoutOf<Ms>::cols));
  static_assert(whole, "the compiled library takes tensors, not views");
  return whole;
}

inline tinyattn_mask mask_of(NoMask) noexcept {
  return {TINYATTN_NO_MASK, false, nullptr, nullptr};
}
inline tinyattn_mask mask_of(Causal) noexcept { return {TINYATTN_CAUSAL, false, nullptr, nullptr}; }
inline tinyattn_mask mask_of(CausalBottomRight) noexcept {
  return {TINYATTN_CAUSAL_BOTTOM_RIGHT, false, nullptr, nullptr};
}
template <std::size_t... Extents>
tinyattn_mask mask_of(const BlockMask<Extents...>& mask) noexcept {
  return {TINYATTN_BLOCK_MASK, sizeof...(Extents) == 1, mask.tensor.data(), nullptr};
}
template <std::size_t... Extents>
tinyattn_mask mask_of(const KeepMask<Extents...>& mask) noexcept {
  return {TINYATTN_KEEP_MASK, sizeof...(Extents) == 1, mask.tensor.data(), nullptr};
}
template <std::size_t... Extents>
tinyattn_mask mask_of(const AdditiveMask<Extents...>& mask) noexcept {
  return {TINYATTN_ADDITIVE_MASK, sizeof...(Extents) == 1, nullptr, mask.tensor.data()};
}

// Ignores a status: types have checked the shapes.
inline void always(tinyattn_status) noexcept {}

// Requires a mask of one row. Rows of a mask for all tokens are longer than a number of source
// tokens known at run time, and a tinyattn_mask has no stride.
template <class Mask, bool has_counts>
consteval bool check_row_of_mask() noexcept {
  constexpr bool has_rows = has_counts && requires(Mask mask) {
    requires decltype(mask.tensor)::rank != 1;
  };
  static_assert(!has_rows, "with token counts, a mask of the compiled library has one row");
  return !has_rows;
}

// Describes a linear. Codes of floats stay unwritten: nothing reads them, and a firmware with many
// layers would be longer.
template <class Weight>
void describe_to(tinyattn_linear& to, const kernel::Projection<Weight>& projection) noexcept {
  if constexpr (std::is_same_v<Weight, kernel::Int8Weights>) {
    to.weight = nullptr;
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
inline void describe_to(tinyattn_linear& to, const auto&) noexcept { to = {}; }

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
  static_assert(tinyattn::detail::check_heads<config>());
  static_assert(!tinyattn::detail::has_band<config>,
                "the compiled library has no layer with a window: take layer.forward, or a decoder "
                "of tinyattn_models.h");
  static_assert(!tinyattn::detail::has_other_sources<config>,
                "the compiled library has no d_key and d_value: take layer.forward");
  tinyattn_layer to;
  to.kind = config.weights == Weights::int8 ? &tinyattn_layer_int8 : &tinyattn_layer_floats;
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
      config.weights != Weights::int8 ||
      sizeof(workspace) >=
          sizeof(float) *
              (tinyattn::kernel::layer_scratch(
                   config.d_out,
                   tinyattn::detail::kv_heads<config> * tinyattn::detail::head_dim<config>,
                   config.context_length, config.context_length) +
               TINYATTN_INTEGERS(config.context_length, TINYATTN_MORE(config.d_in, config.d_out))));
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
  for (std::size_t element = 0; element < LayoutOf<decltype(query_input)>::batch; ++element)
    always(tinyattn_cross_forward(&described, num_tokens, source_tokens,
                                  matrix_at(query_input, element), matrix_at(key_input, element),
                                  matrix_at(value_input, element), &mask, matrix_at(out, element),
                                  scratch_of(layer, workspace)));
}

// Self-attention by one function of the library, which has no code for masks.
template <AttentionConfig config>
void forward_batch(const MultiHeadAttention<config>& layer, const auto& x, std::size_t num_tokens,
                   auto& out, auto& workspace) noexcept {
  const tinyattn_layer described = layer_of(layer);
  for (std::size_t element = 0; element < LayoutOf<decltype(x)>::batch; ++element)
    always(tinyattn_forward(&described, num_tokens, matrix_at(x, element), matrix_at(out, element),
                            scratch_of(layer, workspace)));
}

// Whether a call has one of the forms of layer.forward that the library has.
template <class Layer, auto config, class... Arguments>
consteval bool is_forward() noexcept {
  using Said = tinyattn::detail::Call<1, Arguments...>;
  return tinyattn::detail::is_forward<Layer, config, Arguments...>() && !Said::has_cache &&
         !Said::has_generator;
}

template <AttentionConfig config, class... Types>
auto forward_said(const MultiHeadAttention<config>& layer, auto&... arguments) noexcept {
  using tinyattn::detail::ArgumentAt, tinyattn::detail::nth, tinyattn::detail::rows_of;
  using Said = tinyattn::detail::Call<1, Types...>;
  using Query = ArgumentAt<0, Types...>;
  using Key = ArgumentAt<Said::key, Types...>;
  using Value = ArgumentAt<Said::value, Types...>;
  using Out = ArgumentAt<Said::out, Types...>;
  const auto& query = nth<0>(arguments...);
  auto& out = nth<Said::out>(arguments...);
  auto& workspace = nth<Said::workspace>(arguments...);
  decltype(auto) mask = tinyattn::detail::mask_of<Said>(arguments...);
  using Mask = std::remove_cvref_t<decltype(mask)>;
  constexpr bool fits =
      tinyattn::detail::check_layer<config, Query, Key, Value,
                                    std::remove_reference_t<decltype(out)>, Said::has_counts>() &&
      tinyattn::detail::check_mask_of<Mask, Query, Key>() &&
      check_whole<Query, Key, Value, Out>() && check_row_of_mask<Mask, Said::has_counts>();
  const std::size_t tokens = rows_of<Said, 0, Said::tokens>(arguments...),
                    sources = rows_of<Said, Said::key, Said::source_tokens>(arguments...);
  if (Said::has_counts && (tokens > kernel::minimum(config.context_length, LayoutOf<Query>::rows) ||
                           sources > kernel::minimum(config.context_length, LayoutOf<Key>::rows)))
    return Status::too_many_tokens;
  if constexpr (fits) {
    if constexpr (Said::num_inputs == 1 && !Said::has_mask)
      forward_batch(layer, query, tokens, out, workspace);
    else
      forward_batch(layer, query, nth<Said::key>(arguments...), nth<Said::value>(arguments...),
                    tokens, sources, mask_of(mask), out, workspace);
  }
  return Status::ok;
}

}  // namespace detail

// The workspace of compiled::forward: that of the layer itself.
template <class Layer>
using Workspace = typename Layer::Workspace;

// Self-attention or cross-attention, as layer.forward(x, out, workspace) in each form without a
// cache or a generator. With token counts, a mask is one row for all queries, [source tokens]. A
// firmware that calls it for one input, without a mask, contains no code for masks. The library has
// no attention over keys and values of int8 without a cache: with them it is layer.forward.
template <AttentionConfig config, class... Arguments>
requires(detail::is_forward<MultiHeadAttention<config>, config, Arguments...>()) auto forward(
    const MultiHeadAttention<config>& layer, Arguments&&... arguments) noexcept {
  if constexpr (tinyattn::detail::has_int8_cache<config>) {
    return layer.forward(arguments...);
  } else {
    const Status status = detail::forward_said<config, Arguments...>(layer, arguments...);
    if constexpr (tinyattn::detail::Call<1, Arguments...>::has_counts) return status;
  }
}

// A convolution, as layer.forward(x, out). With int8 weights its scratch is on the stack.
template <Conv1dConfig config, tensor_like TensorX, tensor_like Out>
void forward(const Conv1d<config>& layer, const TensorX& x, Out& out) noexcept {
  using LayoutX = tinyattn::detail::LayoutOf<TensorX>;
  static_assert(config.groups == 1 && config.dilation == 1,
                "the compiled library has no groups and no dilation: take layer.forward");
  if constexpr (tinyattn::detail::check_convolution<config, TensorX, Out>() &&
                detail::check_whole<TensorX, Out>()) {
    constexpr std::size_t rows = Conv1d<config>::tokens_after(LayoutX::rows);
    constexpr bool is_int8 = config.weights == Weights::int8;
    const auto* const kind = is_int8 ? &tinyattn_convolution_int8 : &tinyattn_convolution_floats;
    tinyattn_convolution described = {kind,          config.in,      config.out, config.kernel,
                                      config.stride, config.padding, {}};
    detail::describe_to(described.linear, describe(layer));
    for (std::size_t element = 0; element < LayoutX::batch; ++element) {
      const float* const from = tinyattn::detail::matrix_at(x, element);
      float* const to = out.data() + element * rows * config.out;
      if constexpr (is_int8) {
        float scratch[TINYATTN_CONV1D_SCRATCH(rows, config.kernel * config.in)];
        detail::always(tinyattn_conv1d(&described, LayoutX::rows, from, to, scratch));
      } else {
        detail::always(tinyattn_conv1d(&described, LayoutX::rows, from, to, nullptr));
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
