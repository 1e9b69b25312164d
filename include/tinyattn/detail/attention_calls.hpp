// SPDX-License-Identifier: MIT
//
// Runs an attention layer on tensors: forward over a batch, forward with a cache, which returns
// too_many_tokens if it has no room, and the training pass.
#pragma once

#include "tinyattn/attention_cache.hpp"
#include "tinyattn/detail/attention_checks.hpp"
#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/call.hpp"
#include "tinyattn/detail/config_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/scaled_dot_product.hpp"
#include "tinyattn/detail/sinusoids.hpp"
#include "tinyattn/kernel/cache.hpp"
#include "tinyattn/kernel/layer.hpp"
#include "tinyattn/kernel/random.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/shape.hpp"
#include "tinyattn/status.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Returns a layer whose heads have norms, a width of their own, or features that do not rotate.
template <auto config, class Weight>
TINYATTN_ALWAYS_INLINE constexpr auto layer_of_heads(const kernel::Layer<Weight>& layer,
                                                     const auto& attention) noexcept {
  using Rotary = std::remove_cv_t<decltype(config.rotary)>;
  constexpr std::size_t group = config.num_heads / kv_heads<config>;
  constexpr std::size_t dim = config.rotary_dim == 0 ? head_dim<config> : config.rotary_dim;
  constexpr bool is_interleaved = config.rotary == Rotary::interleaved;
  const auto norm_of = [](const auto& projection) {
    if constexpr (config.qk_norm)
      return describe(projection.norm);
    else
      return kernel::Norm{head_dim<config>, nullptr, nullptr, 0.0f};
  };
  const auto with = [&](const auto& rotation) {
    const kernel::PartialRotation partial{rotation, dim};
    return kernel::LayerOfHeads<Weight, std::remove_const_t<decltype(partial)>>{
        {layer, group, partial}, norm_of(attention.query), norm_of(attention.key), config.d_out};
  };
  if constexpr (config.rotary == Rotary::none)
    return with(kernel::Rotation{});
  else if constexpr (config.window != 0)
    return with(endless_rotation<dim, config.rotary_base>(is_interleaved));
  else
    return with(rotation<config.context_length, dim, config.rotary_base>(is_interleaved));
}

// Returns attention as kernels take it: a Layer, a GroupedLayer if heads share keys or features
// rotate, or a LayerOfHeads. It may have adapters.
template <auto config>
TINYATTN_ALWAYS_INLINE constexpr auto describe_layer(const auto& attention,
                                                     const auto&... adapters) noexcept {
  constexpr std::size_t dim = head_dim<config>;
  using Weight = std::remove_const_t<decltype(describe(attention.query, adapters.query...).weight)>;
  const kernel::Layer<Weight> layer{config.d_in,
                                    width_of_heads<config>,
                                    config.num_heads,
                                    dim,
                                    inverse_sqrt<dim>,
                                    describe(attention.query, adapters.query...),
                                    describe(attention.key, adapters.key...),
                                    describe(attention.value, adapters.value...),
                                    describe(attention.out_proj, adapters.out_proj...)};
  using Rotary = std::remove_cv_t<decltype(config.rotary)>;
  constexpr std::size_t group = config.num_heads / kv_heads<config>;
  constexpr bool is_interleaved = config.rotary == Rotary::interleaved;
  if constexpr (!is_grouped<config>)
    return layer;
  else if constexpr (has_own_heads<config>)
    return layer_of_heads<config>(layer, attention);
  else if constexpr (config.rotary == Rotary::none)
    return kernel::GroupedLayer<Weight>{layer, group, {}};
  else if constexpr (config.window != 0)
    return kernel::GroupedLayer<Weight, kernel::EndlessRotation>{
        layer, group, endless_rotation<dim, config.rotary_base>(is_interleaved)};
  else
    return kernel::GroupedLayer<Weight>{
        layer, group, rotation<config.context_length, dim, config.rotary_base>(is_interleaved)};
}

// The same, of OtherSources if it has them.
template <auto config>
TINYATTN_ALWAYS_INLINE constexpr auto describe_with_sources(const auto& attention,
                                                            const auto&... adapters) noexcept {
  using Described = decltype(describe_layer<config>(attention, adapters...));
  if constexpr (has_other_sources<config>)
    return kernel::OtherSources<Described>{describe_layer<config>(attention, adapters...),
                                           d_key<config>, d_value<config>};
  else
    return describe_layer<config>(attention, adapters...);
}

// The same, WithBiases if it has them.
template <auto config>
TINYATTN_ALWAYS_INLINE constexpr auto describe_attention(const auto& attention,
                                                         const auto&... adapters) noexcept {
  using Described = decltype(describe_with_sources<config>(attention, adapters...));
  if constexpr (config.bias_kv != 0)
    return kernel::WithBiases<Described>{describe_with_sources<config>(attention, adapters...),
                                         config.bias_kv, attention.bias_kv.key.data(),
                                         attention.bias_kv.value.data()};
  else
    return describe_with_sources<config>(attention, adapters...);
}

// What queries, keys and values are computed from.
template <class Query, class Key, class Value>
struct Inputs {
  const Query& query;
  const Key& key;
  const Value& value;
};
template <class Query, class Key, class Value>
Inputs(const Query&, const Key&, const Value&) -> Inputs<Query, Key, Value>;

// Returns element `index` of a batch, as kernels take it.
TINYATTN_ALWAYS_INLINE constexpr kernel::BatchElement batch_element(std::size_t index,
                                                                    std::size_t tokens,
                                                                    std::size_t source_tokens,
                                                                    const auto& inputs,
                                                                    auto& out) noexcept {
  return {index,
          tokens,
          source_tokens,
          input(inputs.query, index),
          input(inputs.key, index),
          input(inputs.value, index),
          output(out, index)};
}

// Returns the mask of a call, combined with that of its layer.
template <auto config>
TINYATTN_ALWAYS_INLINE constexpr auto layer_mask(const auto& mask, std::size_t tokens,
                                                 std::size_t keys) noexcept {
  return with_mask_of<config>(kernel_mask(mask, tokens, keys));
}

// Runs the layer on the first `tokens` and `source_tokens` rows of the inputs, for every batch
// element. `specialized` has the sizes that the call is compiled for, or zeros if it is compiled
// for none.
template <auto config, kernel::CallShape specialized = kernel::CallShape{}>
TINYATTN_ALWAYS_INLINE constexpr void forward_batch(const auto& attention, std::size_t tokens,
                                                    std::size_t source_tokens, const auto& inputs,
                                                    const auto& mask, auto& out, auto& workspace,
                                                    const auto& take_weights) noexcept {
  on_native_port([&](auto port) TINYATTN_INLINE_LAMBDA {
    for (std::size_t i = 0; i < LayoutOf<decltype(inputs.query)>::batch; ++i)
      kernel::forward<decltype(port), specialized>(
          describe(attention), workspace.parts(),
          batch_element(i, tokens, source_tokens, inputs, out),
          layer_mask<config>(mask, tokens, source_tokens), take_weights);
  });
}

// Returns the sizes for which a call is compiled, in which `tokens` is the height of a block; zeros
// if it has too many multiply-adds, or if its blocks differ in height.
template <class Port>
consteval kernel::CallShape specialized_shape(kernel::CallShape shape, std::size_t block_rows,
                                              std::size_t query_rows) noexcept {
  const std::size_t rows = kernel::minimum(query_rows, shape.tokens);
  const std::size_t work_on_queries = shape.tokens * (shape.d_in + shape.d_out);
  const std::size_t work_on_source = 2 * shape.source_tokens * (shape.d_in + shape.tokens);
  const std::size_t work = shape.d_out * (work_on_queries + work_on_source);
  const bool blocks_are_equal =
      shape.tokens % rows == 0 && kernel::minimum(block_rows, shape.tokens) == rows;
  if (!kernel::specializes_shapes<Port> || work > 512 || !blocks_are_equal) return {};
  shape.tokens = rows;
  return shape;
}

// Runs the layer on all rows of the inputs, and copies the weights if there is a tensor for them. A
// small call without is compiled for its sizes.
template <auto config, class Query, class Key, class Value, class Mask, class Out, class... Weights>
TINYATTN_ALWAYS_INLINE constexpr void forward_all(const auto& attention,
                                                  const Inputs<Query, Key, Value>& inputs,
                                                  const Mask& mask, Out& out, auto& workspace,
                                                  Weights&... weights) noexcept {
  if constexpr (check_layer<config, Query, Key, Value, Out>() &&
                check_mask_of<Mask, Query, Key, config.num_heads, LayoutOf<Query>::batch>() &&
                (... && check_head_weights<config, Query, Key, Weights>())) {
    using Workspace = std::remove_cvref_t<decltype(workspace)>;
    constexpr std::size_t tokens = LayoutOf<Query>::rows, source_tokens = LayoutOf<Key>::rows;
    constexpr kernel::CallShape shape{tokens, source_tokens, config.d_in, config.d_out,
                                      head_dim<config>};
    constexpr kernel::CallShape specialized =
        is_grouped<config> || has_band<config> || has_other_sources<config> ||
                config.bias_kv != 0 || sizeof...(Weights) != 0
            ? kernel::CallShape{}
            : specialized_shape<native_port>(shape, Workspace::block_rows, Workspace::query_rows);
    forward_batch<config, specialized>(attention, tokens, source_tokens, inputs, mask, out,
                                       workspace,
                                       copy_weights<Query, Key, config.bias_kv>(weights...));
  }
}

// Runs the layer on the first rows of the inputs, whose numbers are known at run time.
template <auto config, class Query, class Key, class Value, class Mask, class Out>
constexpr Status forward_counted(const auto& attention, const Inputs<Query, Key, Value>& inputs,
                                 std::size_t num_tokens, std::size_t num_source_tokens,
                                 const Mask& mask, Out& out, auto& workspace) noexcept {
  using kernel::minimum;
  if constexpr (check_layer<config, Query, Key, Value, Out, true>() &&
                check_mask_of<Mask, Query, Key, config.num_heads, LayoutOf<Query>::batch>()) {
    if (num_tokens > minimum(config.context_length, LayoutOf<Query>::rows) ||
        num_source_tokens > minimum(config.context_length, LayoutOf<Key>::rows))
      return Status::too_many_tokens;
    if (num_tokens != 0)
      forward_batch<config>(attention, num_tokens, num_source_tokens, inputs, mask, out, workspace,
                            kernel::IgnoreWeights{});
  }
  return Status::ok;
}

// Runs the layer on the first num_tokens rows of x, after the tokens of the cache, rows_at_once
// rows at a time.
template <auto config, class TensorX, class Out>
constexpr Status forward_cached(const auto& attention, const TensorX& x, std::size_t num_tokens,
                                auto& cache, Out& out, auto& workspace) noexcept {
  if constexpr (check_layer<config, TensorX, TensorX, TensorX, Out, true>() &&
                check_cached<TensorX>()) {
    constexpr std::size_t most = std::remove_cvref_t<decltype(cache)>::rows_at_once;
    if (num_tokens > LayoutOf<TensorX>::rows || !cache.has_room(num_tokens))
      return Status::too_many_tokens;
    on_native_port([&](auto port) {
      const kernel::CachedScratch<decltype(workspace.integers.parts())> parts{
          most, workspace.scratch, workspace.integers.parts()};
      for (std::size_t first = 0; first < num_tokens; first += most)
        kernel::forward_cached<decltype(port)>(
            describe(attention), cache.parts(), parts, cache.size() + first,
            kernel::minimum(most, num_tokens - first), input(x, 0).from(first, 0),
            output(out, 0).from(first, 0));
    });
    cache.count_tokens(num_tokens);
  }
  return Status::ok;
}

// A training pass over a batch. Drops attention weights of all batch elements first, by one random
// stream, then outputs, by another.
template <auto config, class Port>
constexpr void train_batch(const auto& attention, const auto& x, const auto& mask, auto& out,
                           const auto& scratch, auto& generator) noexcept {
  using LayoutX = LayoutOf<decltype(x)>;
  using Attention = std::remove_cvref_t<decltype(attention)>;
  constexpr std::size_t tokens = LayoutX::rows;
  const auto layer = describe(attention);
  auto weight_stream = random_stream(generator);
  for (std::size_t i = 0; i < LayoutX::batch; ++i)
    kernel::forward_by_head<Port>(
        layer, scratch, batch_element(i, tokens, tokens, Inputs{x, x, x}, out),
        layer_mask<config>(mask, tokens, tokens),
        kernel::drop_weights(
            Attention::dropout_rate, [&](std::size_t, std::size_t, float* row, std::size_t end) {
              kernel::drop<Port>(row, end, tokens, Attention::dropout_rate, weight_stream);
            }));
  auto output_stream = random_stream(generator);
  for (std::size_t i = 0; i < LayoutX::batch; ++i) {
    const kernel::Output rows = output(out, i);
    kernel::project_output<Port>(layer, scratch, tokens, rows);
    for (std::size_t r = 0; r < tokens; ++r)
      kernel::drop<Port>(rows.at(r, 0), config.d_out, config.d_out,
                         Attention::residual_dropout_rate, output_stream);
  }
}

template <auto config, class TensorX, class Mask, class Out>
constexpr void forward_training(const auto& attention, const TensorX& x, const Mask& mask, Out& out,
                                auto& workspace, auto& generator) noexcept {
  if constexpr (check_training<config>() && check_layer<config, TensorX, TensorX, TensorX, Out>() &&
                check_mask_of<Mask, TensorX, TensorX>())
    on_native_port([&](auto port) {
      train_batch<config, decltype(port)>(attention, x, mask, out, workspace.parts(), generator);
    });
}

// Whether a call has one of the forms of forward, with the workspace that goes with it.
template <class Attention, auto config, class... Arguments>
consteval bool is_forward() noexcept {
  using Said = Call<1, Arguments...>;
  if constexpr (!Said::is_call || (Said::has_generator && !Said::is_plain) ||
                (Said::has_cache && Said::num_inputs != 1)) {
    return false;
  } else {
    using Workspace = ArgumentAt<Said::workspace, Arguments...>;
    if constexpr (!Said::has_cache)
      return std::is_base_of_v<typename Attention::Workspace, Workspace>;
    else if constexpr (!std::is_base_of_v<KeyValueCache<config>,
                                          ArgumentAt<Said::cache, Arguments...>>)
      return false;
    else
      return std::is_base_of_v<typename KeyValueCache<config>::AttentionWorkspace, Workspace>;
  }
}
// The same of forward_with_weights.
template <class Attention, class... Arguments>
consteval bool is_forward_with_weights() noexcept {
  using Said = Call<2, Arguments...>;
  if constexpr (!Said::is_call || Said::has_counts || Said::has_cache || Said::has_generator)
    return false;
  else
    return std::is_base_of_v<typename Attention::Workspace,
                             ArgumentAt<Said::workspace, Arguments...>>;
}

// The forms of forward of an attention layer, which may have adapters.
template <auto config, class... Types>
TINYATTN_ALWAYS_INLINE constexpr auto forward_attention(const auto& attention,
                                                        auto&... arguments) noexcept {
  using Said = Call<1, Types...>;
  const auto& query = nth<0>(arguments...);
  const Inputs inputs{query, nth<Said::key>(arguments...), nth<Said::value>(arguments...)};
  const std::size_t tokens = rows_of<Said, 0, Said::tokens>(arguments...);
  auto& out = nth<Said::out>(arguments...);
  auto& workspace = nth<Said::workspace>(arguments...);
  if constexpr (Said::has_cache)
    return forward_cached<config>(attention, query, tokens, nth<Said::cache>(arguments...), out,
                                  workspace);
  else if constexpr (Said::has_generator)
    return forward_training<config>(attention, query, mask_of<Said>(arguments...), out, workspace,
                                    nth<Said::generator>(arguments...));
  else if constexpr (Said::has_counts)
    return forward_counted<config>(attention, inputs, tokens,
                                   rows_of<Said, Said::key, Said::source_tokens>(arguments...),
                                   mask_of<Said>(arguments...), out, workspace);
  else
    return forward_all<config>(attention, inputs, mask_of<Said>(arguments...), out, workspace);
}

// Those of forward_with_weights.
template <auto config, class... Types>
constexpr void forward_attention_with_weights(const auto& attention, auto&... arguments) noexcept {
  using Said = Call<2, Types...>;
  const Inputs inputs{nth<0>(arguments...), nth<Said::key>(arguments...),
                      nth<Said::value>(arguments...)};
  forward_all<config>(attention, inputs, mask_of<Said>(arguments...), nth<Said::out>(arguments...),
                      nth<Said::workspace>(arguments...), nth<Said::out + 1>(arguments...));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
