// SPDX-License-Identifier: MIT
//
// Attention layers: projections of the input, heads of scaled dot-product attention, and a
// projection of the output. The caller owns all scratch, whose size is a constant of the type.
#pragma once

#include "tinyattn/attention.hpp"
#include "tinyattn/attention_cache.hpp"
#include "tinyattn/attention_config.hpp"
#include "tinyattn/detail/attention_calls.hpp"
#include "tinyattn/detail/attention_workspace.hpp"
#include "tinyattn/detail/config_checks.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// A projection, and a norm of each head of its outputs: of queries or keys with qk_norm.
template <class Projection, std::size_t HeadDim>
struct NormedProjection {
  Projection linear;      // to all heads
  RmsNorm<HeadDim> norm;  // of each

  friend constexpr bool operator==(const NormedProjection&, const NormedProjection&) = default;

  using Members = detail::Members<detail::names<"linear", "norm">, &NormedProjection::linear,
                                  &NormedProjection::norm>;

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const NormedProjection& normed) noexcept {
    return describe(normed.linear);
  }
};

// Learned keys and values, to which each token attends.
template <std::size_t Count, std::size_t KvWidth>
struct BiasKv {
  Matrix<float, Count, KvWidth> key;    // bias_k of torch.nn.MultiheadAttention, a row for each
  Matrix<float, Count, KvWidth> value;  // bias_v, likewise

  TINYATTN_MODULE(BiasKv, key, value)
};

// Multi-head attention with split heads: head h reads the head_dim columns of the queries, keys and
// values from column h * head_dim on, and writes the same columns of the context. If num_kv_heads
// is less than num_heads, several heads read the same columns of keys and values. Section 3.2.2 of
// Vaswani et al., "Attention Is All You Need", 2017.
//
// In every form below an input is [tokens, d_in] or, as a batch, [..., tokens, d_in], and `out` has
// the same extents, but d_out columns. `tokens` may be any number up to context_length. Inputs of
// keys and values have d_key and d_value columns where config has these.
template <AttentionConfig config>
struct MultiHeadAttention {
  static_assert(detail::check_attention_config<config>());
  static constexpr std::size_t head_dim = detail::head_dim<config>;             // width of a head
  static constexpr std::size_t kv_width = detail::kv_heads<config> * head_dim;  // width of keys
  static constexpr std::size_t width = detail::width_of_heads<config>;          // width of queries
  // A Projection, or with qk_norm a NormedProjection.
  template <class Projection>
  using OfHeads =
      std::conditional_t<config.qk_norm, NormedProjection<Projection, head_dim>, Projection>;
  // The type of query.
  using QueryProjection = OfHeads<Linear<config.d_in, width, config.qkv_bias, config.weights>>;
  // The type of key.
  using KeyProjection =
      OfHeads<Linear<detail::d_key<config>, kv_width, config.qkv_bias, config.weights>>;
  // The type of value.
  using ValueProjection =
      Linear<detail::d_value<config>, kv_width, config.qkv_bias, config.weights>;
  // The type of out_proj.
  using OutputProjection = Linear<width, config.d_out, config.out_bias, config.weights>;
  static constexpr DropoutRate dropout_rate = config.dropout;  // for attention weights in training
  static constexpr DropoutRate residual_dropout_rate = config.residual_dropout;  // for outputs
  QueryProjection query;                                                         // [d_in, width]
  KeyProjection key;      // [d_key, kv_width]
  ValueProjection value;  // [d_value, kv_width]
  // [width, d_out]
  [[no_unique_address]] detail::Optional<config.out_proj, OutputProjection> out_proj{};

  // [bias_kv, kv_width] each; nothing without config.bias_kv
  [[no_unique_address]] detail::Optional<config.bias_kv != 0,
                                         BiasKv<config.bias_kv == 0 ? 1 : config.bias_kv, kv_width>>
      bias_kv{};

  // All the scratch of a call. Nothing is kept between calls.
  struct Workspace : detail::LayerWorkspace<config> {};

  // The keys and values of the tokens so far, for a causal layer. size() is their number, clear()
  // removes them, has_room(count) says whether there is room for more. Cache::Workspace is all the
  // scratch of a call with the cache.
  struct Cache : detail::KeyValueCache<config> {};

  // By value: result and workspace are on the stack.
  constexpr auto operator()(const auto& x) const noexcept {
    Workspace workspace;
    return detail::by_value<config.d_out>(*this, x, workspace);
  }

  // Cross-attention: queries from one input, keys and values from others of one length.
  template <tensor_like Query, tensor_like Key, tensor_like Value>
  constexpr auto operator()(const Query& query_input, const Key& key_input,
                            const Value& value_input) const noexcept {
    detail::WithCols<Query, config.d_out> out;
    Workspace workspace;
    forward(query_input, key_input, value_input, NoMask{}, out, workspace);
    return out;
  }

  // Self-attention or cross-attention:
  //
  //   forward(x, out, workspace)
  //   forward(query_input, key_input, value_input, out, workspace)
  //
  // context_length bounds both lengths, and config.causal lets query i attend to keys 0 .. i. `out`
  // may be x or query_input itself, but may not overlap an input otherwise. After the inputs there
  // may be
  //
  //   num_tokens, or num_tokens, num_source_tokens
  //     The first rows of x, or of query_input and of the other inputs, of which there may be 0.
  //     Other rows of `out` stay as they are. If there are too many, writes nothing and returns
  //     too_many_tokens, else ok. A query whose source tokens are all masked has a context of
  //     zeros.
  //   a mask, [tokens, source tokens], [source tokens], [num_heads, tokens, source tokens] or, for
  //   a
  //     batch, [batch * num_heads, tokens, source tokens]
  //     It masks keys in addition to config.causal; of numbers of tokens, for all rows.
  //   a Cache, after x or num_tokens; then `workspace` is its Workspace
  //     The tokens follow those of the cache, and are added to it: the bits are those of one call
  //     with all tokens, however they are divided into calls. If the cache has no room for all of
  //     them, writes nothing and returns too_many_tokens. x is no batch.
  //
  // and after the workspace of self-attention a generator:
  //
  //   forward(x, out, workspace, generator)
  //     A training pass, with dropout, with a mask or without. It draws first for the attention
  //     weights of the whole batch (in the order batch element, head, row, column, and for masked
  //     weights too), then for the outputs. `out` may not be x.
  template <class... Arguments>
  requires(detail::is_forward<MultiHeadAttention, config, Arguments...>()) constexpr auto forward(
      Arguments&&... arguments) const noexcept {
    return detail::forward_attention<config, Arguments...>(*this, arguments...);
  }

  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, out, workspace), with num_tokens and a mask or a cache after x, or three "
      "inputs for x; out is a tensor or a MatrixView, neither const nor a temporary, and workspace "
      "is this layer's Workspace, or its Cache::Workspace")

  // Attention that also writes its weights, [..., num_heads, tokens, source tokens]; there is no
  // dropout. The weight of a masked key is 0. Those of bias_kv are behind those of source tokens.
  //
  //   forward_with_weights(x, out, weights, workspace)
  //   forward_with_weights(query_input, key_input, value_input, out, weights, workspace)
  //
  // After the inputs there may be a mask.
  template <class... Arguments>
  requires(detail::is_forward_with_weights<
           MultiHeadAttention,
           Arguments...>()) constexpr void forward_with_weights(Arguments&&... arguments)
      const noexcept {
    detail::forward_attention_with_weights<config, Arguments...>(*this, arguments...);
  }

  TINYATTN_DIAGNOSTIC(class First = detail::Anything, forward_with_weights(const First&, ...) const,
                      "forward_with_weights takes (x, out, weights, workspace) or three inputs for "
                      "x: out and weights are neither const nor temporaries")

  TINYATTN_MODULE(MultiHeadAttention, query, key, value, out_proj, bias_kv)

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(
      const MultiHeadAttention& attention) noexcept {
    return detail::describe_attention<config>(attention);
  }
};

// Self-attention with one head, no causal mask and no output projection.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength>
using SelfAttention = MultiHeadAttention<AttentionConfig{.d_in = DIn,
                                                         .d_out = DOut,
                                                         .context_length = ContextLength,
                                                         .causal = false,
                                                         .out_proj = false}>;

// Causal self-attention with one head and no output projection.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength>
using CausalAttention = MultiHeadAttention<AttentionConfig{.d_in = DIn,
                                                           .d_out = DOut,
                                                           .context_length = ContextLength,
                                                           .causal = true,
                                                           .out_proj = false}>;

// Several heads of CausalAttention, each with weights of its own.
template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength, std::size_t NumHeads>
struct StackedCausalAttention {
  static_assert(NumHeads != 0, "num_heads must not be zero");
  using Head = CausalAttention<DIn, DOut, ContextLength>;  // type of a head
  using Workspace = typename Head::Workspace;  // all the scratch of a call, for one head at a time
  static constexpr std::size_t head_dim = DOut;  // the columns that a head writes
  // The number of weights and biases, and their bytes.
  static constexpr std::size_t parameter_count = NumHeads * Head::parameter_count,
                               parameter_bytes = NumHeads * Head::parameter_bytes;
  Head heads[NumHeads];  // head h writes the columns of `out` from h * DOut on

  // By value: result and workspace are on the stack.
  constexpr auto operator()(const auto& x) const noexcept {
    Workspace workspace;
    return detail::by_value<DOut * NumHeads>(*this, x, workspace);
  }

  // x is [..., tokens, DIn], out [..., tokens, NumHeads * DOut], and may not be x.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    if constexpr (detail::check_rows_of_layer<DIn, DOut * NumHeads, TensorX, Out>())
      for (std::size_t i = 0; i < detail::LayoutOf<TensorX>::batch; ++i)
        for (std::size_t head = 0; head < NumHeads; ++head) {
          const auto x_view = detail::columns_of<DIn>(x, i, 0);
          auto out_view = detail::columns_of<DOut>(out, i, head * DOut);
          heads[head].forward(x_view, out_view, workspace);
        }
  }

  TINYATTN_DIAGNOSTIC(class First = detail::Anything, forward(const First&, ...) const,
                      "forward takes (x, out, workspace): out is a tensor or a MatrixView, neither "
                      "const nor a temporary, and workspace is this layer's Workspace")

  friend constexpr bool operator==(const StackedCausalAttention&,
                                   const StackedCausalAttention&) = default;

  using Members = detail::Members<detail::names<"heads">, &StackedCausalAttention::heads>;
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
