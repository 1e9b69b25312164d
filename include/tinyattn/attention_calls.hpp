// SPDX-License-Identifier: MIT
//
// An attention layer and its calls, as the kernels see them.
#pragma once

#include "tinyattn/attention_cache.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/kernel/layer.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/positions.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <AttentionConfig config>
inline constexpr bool is_grouped =
    kv_heads<config> != config.num_heads || config.rotary != Rotary::none;

template <AttentionConfig config>
TINYATTN_ALWAYS_INLINE constexpr kernel::Rotation rotation() noexcept {
  if constexpr (config.rotary == Rotary::none) {
    return {};
  } else {
    constexpr const auto& table =
        waves<config.context_length, head_dim<config>, config.rotary_base>;
    return kernel::rotation_of(table.cosines, table.sines, config.rotary == Rotary::interleaved,
                               head_dim<config>);
  }
}

}  // namespace detail

namespace kernel {

template <AttentionConfig config>
TINYATTN_ALWAYS_INLINE constexpr Layer plain_layer_of(const auto& attention) noexcept {
  return {config.d_in,
          config.d_out,
          config.num_heads,
          detail::head_dim<config>,
          detail::inverse_sqrt<detail::head_dim<config>>,
          projection(attention.query),
          projection(attention.key),
          projection(attention.value),
          projection(attention.out_proj)};
}

// A Layer, or a GroupedLayer where heads share keys or features turn.
template <AttentionConfig config>
TINYATTN_ALWAYS_INLINE constexpr auto layer_of(const auto& attention) noexcept {
  if constexpr (detail::is_grouped<config>)
    return GroupedLayer{plain_layer_of<config>(attention),
                        config.num_heads / detail::kv_heads<config>, detail::rotation<config>()};
  else
    return plain_layer_of<config>(attention);
}

TINYATTN_ALWAYS_INLINE constexpr Item item_of(std::size_t index, std::size_t tokens,
                                              std::size_t source_tokens, const auto& query_input,
                                              const auto& key_input, const auto& value_input,
                                              auto& out) noexcept {
  return {index,
          tokens,
          source_tokens,
          input(query_input, index),
          input(key_input, index),
          input(value_input, index),
          output(out, index)};
}

// What a layer shows through one more mask.
template <AttentionConfig config>
TINYATTN_ALWAYS_INLINE constexpr Mask layer_mask(const auto& mask, std::size_t tokens,
                                                 std::size_t keys) noexcept {
  const Mask by_mask = mask_of(mask, tokens, keys);
  return config.causal ? and_causal(by_mask) : by_mask;
}

// The first num_tokens rows of x, behind the tokens of the cache.
template <AttentionConfig config, class Port>
TINYATTN_ALWAYS_INLINE constexpr void forward_rows(const auto& attention, Input x,
                                                   std::size_t num_tokens, auto& cache, Output out,
                                                   float* scratch) noexcept {
  constexpr std::size_t most = std::remove_cvref_t<decltype(cache)>::rows_at_once;
  const CachedScratch parts = cached_parts(scratch, most, config.d_out, config.context_length);
  for (std::size_t first = 0; first < num_tokens; first += most)
    forward_cached<Port>(layer_of<config>(attention), cache.parts(), parts, cache.size() + first,
                         minimum(most, num_tokens - first), x.from(first, 0), out.from(first, 0));
}

// A training pass over a batch: the weights of all items are dropped first, then the outputs.
template <AttentionConfig config, class Port>
constexpr void forward_training(const auto& attention, const auto& x, auto& out,
                                const Scratch& scratch, auto& generator) noexcept {
  using LayoutX = detail::LayoutOf<decltype(x)>;
  using Layer = std::remove_cvref_t<decltype(attention)>;
  constexpr std::size_t tokens = LayoutX::rows;
  const auto layer = layer_of<config>(attention);
  auto weight_words = detail::words(generator);
  for (std::size_t index = 0; index < LayoutX::batch; ++index)
    forward_by_head<Port>(layer, scratch, item_of(index, tokens, tokens, x, x, x, out),
                          layer_mask<config>(NoMask{}, tokens, tokens),
                          [&](std::size_t, std::size_t, float* row, std::size_t end) {
                            drop<Port>(row, end, tokens, Layer::dropout_rate, weight_words);
                          });
  auto output_words = detail::words(generator);
  for (std::size_t index = 0; index < LayoutX::batch; ++index) {
    const Output rows = output(out, index);
    project_output<Port>(layer, scratch, tokens, rows);
    for (std::size_t i = 0; i < tokens; ++i)
      drop<Port>(rows.at(i, 0), config.d_out, config.d_out, Layer::residual_dropout_rate,
                 output_words);
  }
}

}  // namespace kernel

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
