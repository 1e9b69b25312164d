// SPDX-License-Identifier: MIT
//
// The attention layer: projections of the input, heads of scaled dot-product attention, and a
// projection of the output. All scratch is the caller's; its size is a constant of the type.
#pragma once

#include "tinyattn/attention.hpp"
#include "tinyattn/attention_calls.hpp"
#include "tinyattn/attention_checks.hpp"
#include "tinyattn/attention_config.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/kernel/layer.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Multi-head attention with split heads: head h has the head_dim columns from h * head_dim on. It
// reads these of the queries, keys and values, and writes the same columns of the context.
// Section 3.2.2 of Vaswani et al., "Attention Is All You Need", 2017.
//
// In every form below an input is [tokens, d_in] or, as a batch, [..., tokens, d_in], and `out` has
// the same extents but for d_out columns. `tokens` may be any number up to context_length.
template <AttentionConfig config>
struct MultiHeadAttention {
  static_assert(kernel::check_config<config>());

  using OutputProjection = Linear<config.d_out, config.d_out, config.out_bias>;  // of the context
  static constexpr std::size_t head_dim = detail::head_dim<config>;              // width of a head
  static constexpr std::size_t kv_width = detail::kv_heads<config> * head_dim;   // width of keys
  using QueryProjection = Linear<config.d_in, config.d_out, config.qkv_bias>;    // of query
  using KeyProjection = Linear<config.d_in, kv_width, config.qkv_bias>;          // of key and value
  // All weights and biases, in floats.
  static constexpr std::size_t parameter_count = detail::count_parameters<MultiHeadAttention>();

  static constexpr DropoutRate dropout_rate = config.dropout;                    // of weights
  static constexpr DropoutRate residual_dropout_rate = config.residual_dropout;  // of outputs

  QueryProjection query;     // [d_in, d_out]
  KeyProjection key, value;  // [d_in, kv_width]
  // [d_out, d_out]
  [[no_unique_address]] detail::Optional<config.out_proj, OutputProjection> out_proj{};

  // All the scratch of a call. What it holds between calls means nothing.
  struct Workspace
      : kernel::LayerWorkspace<native_port, config.d_out, kv_width, config.context_length> {};

  // The keys and values of the tokens so far, for a layer that is causal: size() of them; clear()
  // forgets them. Cache::Workspace is all the scratch of a call with it.
  struct Cache : detail::KeyValueCache<config> {};

  // By value, for the compiler and for small shapes: result and workspace stand on the stack.
  template <tensor_like TensorX>
  constexpr auto operator()(const TensorX& x) const noexcept {
    return (*this)(x, x, x);
  }
  constexpr detail::Refused operator()(const detail::no_tensor auto& x) const noexcept {
    return detail::refuse(x);
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

  // Self-attention. `out` may be x itself; otherwise no element of it may be one of x.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    forward(x, x, x, NoMask{}, out, workspace);
  }

  // With a mask, [tokens, tokens] or [tokens]: it hides keys in addition to config.causal.
  template <tensor_like TensorX, detail::no_count_nor<detail::KeyValueCache<config>> Mask,
            tensor_like Out>
  constexpr void forward(const TensorX& x, const Mask& mask, Out& out,
                         Workspace& workspace) const noexcept {
    forward(x, x, x, mask, out, workspace);
  }

  // Cross-attention; context_length bounds both lengths, and config.causal lets query i see keys
  // 0 .. i. `out` may be query_input itself; otherwise no element of it may be one of an input.
  template <tensor_like Query, tensor_like Key, tensor_like Value, tensor_like Out>
  constexpr void forward(const Query& query_input, const Key& key_input, const Value& value_input,
                         Out& out, Workspace& workspace) const noexcept {
    forward(query_input, key_input, value_input, NoMask{}, out, workspace);
  }

  template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
  constexpr void forward(const Query& query_input, const Key& key_input, const Value& value_input,
                         const Mask& mask, Out& out, Workspace& workspace) const noexcept;

  // Also the weights, before dropout: [..., num_heads, tokens, source tokens]; a masked one is 0.
  template <tensor_like TensorX, tensor_like Out, tensor_like Weights>
  constexpr void forward_with_weights(const TensorX& x, Out& out, Weights& weights,
                                      Workspace& workspace) const noexcept {
    forward_with_weights(x, x, x, out, weights, workspace);
  }

  template <tensor_like Query, tensor_like Key, tensor_like Value, tensor_like Out,
            tensor_like Weights>
  constexpr void forward_with_weights(const Query& query_input, const Key& key_input,
                                      const Value& value_input, Out& out, Weights& weights,
                                      Workspace& workspace) const noexcept;

  template <class TensorX = detail::Anything>
  constexpr detail::Refused forward_with_weights(const TensorX&, ...) const noexcept {
    static_assert(detail::no_such_call<TensorX>,
                  "forward_with_weights takes (x, out, weights, workspace) or three inputs for x: "
                  "out and weights are neither const nor temporaries");
    return {};
  }

  // The first num_tokens rows of x; 0 is fine. The other rows of `out` stay as they are. For more
  // than context_length or the rows of x, nothing is written and too_many_tokens comes back.
  template <tensor_like TensorX, tensor_like Out>
  constexpr Status forward(const TensorX& x, std::size_t num_tokens, Out& out,
                           Workspace& workspace) const noexcept {
    return forward(x, x, x, num_tokens, num_tokens, NoMask{}, out, workspace);
  }

  // With a mask for all rows of x, of which the first num_tokens rows and columns count.
  template <tensor_like TensorX, class Mask, tensor_like Out>
  constexpr Status forward(const TensorX& x, std::size_t num_tokens, const Mask& mask, Out& out,
                           Workspace& workspace) const noexcept {
    return forward(x, x, x, num_tokens, num_tokens, mask, out, workspace);
  }

  // Cross-attention from the first num_tokens rows of query_input to the first num_source_tokens of
  // the others. A query without a source token that it may see has a context of zeros.
  template <tensor_like Query, tensor_like Key, tensor_like Value, tensor_like Out>
  constexpr Status forward(const Query& query_input, const Key& key_input, const Value& value_input,
                           std::size_t num_tokens, std::size_t num_source_tokens, Out& out,
                           Workspace& workspace) const noexcept {
    return forward(query_input, key_input, value_input, num_tokens, num_source_tokens, NoMask{},
                   out, workspace);
  }

  template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
  constexpr Status forward(const Query& query_input, const Key& key_input, const Value& value_input,
                           std::size_t num_tokens, std::size_t num_source_tokens, const Mask& mask,
                           Out& out, Workspace& workspace) const noexcept;

  // The tokens behind those of the cache, which keeps them: x is [tokens, d_in], out [tokens,
  // d_out]. The same bits as one call with all tokens, however they are divided. For more tokens
  // than there is room, nothing is written and too_many_tokens comes back. `out` may be x.
  template <tensor_like TensorX, detail::cache_of<config> KeyValues, tensor_like Out>
  constexpr Status forward(const TensorX& x, KeyValues& cache, Out& out,
                           typename KeyValues::AttentionWorkspace& workspace) const noexcept {
    return forward(x, detail::LayoutOf<TensorX>::rows, cache, out, workspace);
  }

  // The first num_tokens rows of x.
  template <tensor_like TensorX, detail::cache_of<config> KeyValues, tensor_like Out>
  constexpr Status forward(const TensorX& x, std::size_t num_tokens, KeyValues& cache, Out& out,
                           typename KeyValues::AttentionWorkspace& workspace) const noexcept;

  // A training pass: dropout drawn from the generator, the weights of all items first (item, head,
  // row, column; masked ones too), then the outputs. `out` may not be x, since contexts wait in it
  // until every head is done.
  template <tensor_like TensorX, tensor_like Out, random_generator Generator>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace,
                         Generator& generator) const noexcept;

  template <class TensorX = detail::Anything>
  constexpr detail::Refused forward(const TensorX&, ...) const noexcept {
    static_assert(detail::no_such_call<TensorX>,
                  "forward takes (x, out, workspace), with num_tokens and a mask or a cache "
                  "behind x, or three inputs for x; out is a tensor or a MatrixView, neither "
                  "const nor a temporary, and workspace is this layer's Workspace, or its "
                  "Cache::Workspace");
    return {};
  }

  friend constexpr bool operator==(const MultiHeadAttention&, const MultiHeadAttention&) = default;

  // By name, for for_each_parameter and initialize.
  static constexpr auto members(auto& self, const auto& use) {
    return use(detail::names<"query", "key", "value", "out_proj">, self.query, self.key, self.value,
               self.out_proj);
  }

 private:
  template <kernel::LayerShape tiny = kernel::LayerShape{}>
  TINYATTN_ALWAYS_INLINE constexpr void forward_batch(std::size_t tokens, std::size_t source_tokens,
                                                      const auto& query_input,
                                                      const auto& key_input,
                                                      const auto& value_input, const auto& mask,
                                                      auto& out, Workspace& workspace,
                                                      const auto& take_weights) const noexcept {
    on_native_port([&](auto port) TINYATTN_INLINE_LAMBDA {
      for (std::size_t index = 0; index < detail::LayoutOf<decltype(query_input)>::batch; ++index)
        kernel::forward<decltype(port), tiny>(
            kernel::layer_of<config>(*this), workspace.parts(),
            kernel::item_of(index, tokens, source_tokens, query_input, key_input, value_input, out),
            kernel::layer_mask<config>(mask, tokens, source_tokens), take_weights);
    });
  }
};

template <AttentionConfig config>
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
TINYATTN_ALWAYS_INLINE constexpr void MultiHeadAttention<config>::forward(
    const Query& query_input, const Key& key_input, const Value& value_input, const Mask& mask,
    Out& out, Workspace& workspace) const noexcept {
  constexpr std::size_t tokens = detail::LayoutOf<Query>::rows,
                        source_tokens = detail::LayoutOf<Key>::rows;
  if constexpr (kernel::check_layer<config, Query, Key, Value, Out>() &&
                kernel::check_mask<Mask, tokens, source_tokens>()) {
    constexpr kernel::LayerShape shape{tokens, source_tokens, config.d_in, config.d_out, head_dim};
    constexpr kernel::LayerShape tiny =
        detail::is_grouped<config> ? kernel::LayerShape{}
                                   : kernel::specialized_shape<native_port>(
                                         shape, Workspace::block_rows, Workspace::query_rows);
    forward_batch<tiny>(tokens, source_tokens, query_input, key_input, value_input, mask, out,
                        workspace, kernel::ignore_weights());
  }
}

template <AttentionConfig config>
template <tensor_like Query, tensor_like Key, tensor_like Value, tensor_like Out,
          tensor_like Weights>
constexpr void MultiHeadAttention<config>::forward_with_weights(
    const Query& query_input, const Key& key_input, const Value& value_input, Out& out,
    Weights& weights, Workspace& workspace) const noexcept {
  constexpr std::size_t tokens = detail::LayoutOf<Query>::rows,
                        source_tokens = detail::LayoutOf<Key>::rows;
  if constexpr (kernel::check_layer<config, Query, Key, Value, Out>())
    if constexpr (kernel::check_head_weights<config, Query, Key, Weights>())
      forward_batch(tokens, source_tokens, query_input, key_input, value_input, NoMask{}, out,
                    workspace, kernel::copy_weights<tokens, source_tokens>(weights.data()));
}

template <AttentionConfig config>
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
constexpr Status MultiHeadAttention<config>::forward(const Query& query_input, const Key& key_input,
                                                     const Value& value_input,
                                                     std::size_t num_tokens,
                                                     std::size_t num_source_tokens,
                                                     const Mask& mask, Out& out,
                                                     Workspace& workspace) const noexcept {
  using kernel::minimum;
  constexpr std::size_t tokens = detail::LayoutOf<Query>::rows,
                        source_tokens = detail::LayoutOf<Key>::rows;
  if constexpr (kernel::check_layer<config, Query, Key, Value, Out, true>() &&
                kernel::check_mask<Mask, tokens, source_tokens>()) {
    if (num_tokens > minimum(config.context_length, tokens) ||
        num_source_tokens > minimum(config.context_length, source_tokens))
      return Status::too_many_tokens;
    if (num_tokens != 0)
      forward_batch(num_tokens, num_source_tokens, query_input, key_input, value_input, mask, out,
                    workspace, kernel::ignore_weights());
  }
  return Status::ok;
}

template <AttentionConfig config>
template <tensor_like TensorX, detail::cache_of<config> KeyValues, tensor_like Out>
constexpr Status MultiHeadAttention<config>::forward(
    const TensorX& x, std::size_t num_tokens, KeyValues& cache, Out& out,
    typename KeyValues::AttentionWorkspace& workspace) const noexcept {
  if constexpr (kernel::check_layer<config, TensorX, TensorX, TensorX, Out, true>() &&
                kernel::check_cached<TensorX>()) {
    if (num_tokens > detail::LayoutOf<TensorX>::rows || !cache.has_room(num_tokens))
      return Status::too_many_tokens;
    on_native_port([&](auto port) {
      kernel::forward_rows<config, decltype(port)>(*this, kernel::input(x, 0), num_tokens, cache,
                                                   kernel::output(out, 0), workspace.scratch);
    });
    cache.num_tokens += num_tokens;
  }
  return Status::ok;
}

template <AttentionConfig config>
template <tensor_like TensorX, tensor_like Out, random_generator Generator>
constexpr void MultiHeadAttention<config>::forward(const TensorX& x, Out& out, Workspace& workspace,
                                                   Generator& generator) const noexcept {
  if constexpr (kernel::check_layer<config, TensorX, TensorX, TensorX, Out>())
    on_native_port([&](auto port) {
      kernel::forward_training<config, decltype(port)>(*this, x, out, workspace.parts(), generator);
    });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
