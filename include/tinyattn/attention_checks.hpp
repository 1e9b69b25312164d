// SPDX-License-Identifier: MIT
//
// What the inputs and outputs of attention must agree in. What is wrong is said in a sentence, and
// the rest of the call is then left out, so that no page of errors follows.
#pragma once

#include "tinyattn/attention_config.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// --- Of attention ---

template <class Mask, std::size_t Tokens, std::size_t SourceTokens>
consteval bool check_mask() noexcept {
  constexpr bool is_mask = detail::MaskShape<Mask>::is_mask;
  constexpr bool is_floats = std::is_same_v<std::remove_all_extents_t<Mask>, float> || requires {
    requires std::is_same_v<typename Mask::value_type, float>;
  };
  static_assert(!is_floats, "this is no mask: floats that are added to scores are an AdditiveMask");
  static_assert(is_mask || is_floats,
                "this is no mask: a Tensor<bool> alone does not say whether true hides or keeps; "
                "BlockMask and KeepMask do");
  if constexpr (is_mask) {
    constexpr bool fits = detail::MaskShape<Mask>::template fits<Tokens, SourceTokens>;
    static_assert(fits, "mask must be [tokens, source tokens] or [source tokens]");
    return fits;
  }
  return false;
}

template <class Query, class Key, class Value>
consteval bool check_attention_inputs() noexcept {
  using LayoutQuery = detail::LayoutOf<Query>;
  using LayoutKey = detail::LayoutOf<Key>;
  using LayoutValue = detail::LayoutOf<Value>;
  constexpr bool floats =
      detail::holds_floats<Query> && detail::holds_floats<Key> && detail::holds_floats<Value>;
  constexpr bool batches = detail::same_batch<Query, Key> && detail::same_batch<Query, Value>;
  static_assert(floats, "query, key and value must hold floats");
  static_assert(LayoutQuery::cols == LayoutKey::cols,
                "query and key must have the same number of columns");
  static_assert(LayoutKey::rows == LayoutValue::rows,
                "key and value must have the same number of rows");
  static_assert(batches, "query, key and value must have the same batch extents");
  return floats && batches && LayoutQuery::cols == LayoutKey::cols &&
         LayoutKey::rows == LayoutValue::rows;
}

template <class Query, class Key, class Value, class Mask, class Out>
consteval bool check_attention() noexcept {
  using LayoutQuery = detail::LayoutOf<Query>;
  constexpr bool fits =
      detail::same_shape<Out, detail::WithCols<Query, detail::LayoutOf<Value>::cols>>;
  if constexpr (!check_attention_inputs<Query, Key, Value>() ||
                !check_mask<Mask, LayoutQuery::rows, detail::LayoutOf<Key>::rows>())
    return false;
  else {
    static_assert(detail::is_writable<Out>, "out must hold floats, and not be const");
    static_assert(!detail::is_writable<Out> || fits,
                  "out must have the rows of query and the columns of value");
    return detail::is_writable<Out> && fits;
  }
}

template <class Query, class Key, class Weights>
consteval bool check_weights() noexcept {
  constexpr bool fits =
      detail::same_shape<Weights, detail::WithCols<Query, detail::LayoutOf<Key>::rows>>;
  constexpr bool is_whole = detail::LayoutOf<Weights>::stride == detail::LayoutOf<Weights>::cols &&
                            detail::is_writable<Weights>;
  static_assert(fits, "weights must have the rows of query and a column for each row of key");
  static_assert(!fits || is_whole, "weights must be a tensor, not a view, and not be const");
  return fits && is_whole;
}

// --- Of a layer ---

template <AttentionConfig config>
consteval bool check_config() noexcept {
  static_assert(config.num_heads != 0, "num_heads must not be zero");
  static_assert(config.d_out % (config.num_heads == 0 ? 1 : config.num_heads) == 0,
                "d_out must be divisible by num_heads");
  static_assert(config.num_heads % (config.num_kv_heads == 0 ? 1 : config.num_kv_heads) == 0,
                "num_heads must be divisible by num_kv_heads");
  static_assert(config.rotary <= Rotary::halves,
                "rotary must be Rotary::none, interleaved or halves");
  static_assert(config.rotary == Rotary::none ||
                    config.d_out / (config.num_heads == 0 ? 1 : config.num_heads) % 2 == 0,
                "head_dim must be even for rotary positions");
  static_assert(config.rotary == Rotary::none || config.rotary_base != 0,
                "rotary_base must not be zero");
  static_assert(config.d_in != 0 && config.d_out != 0, "d_in and d_out must not be zero");
  static_assert(config.context_length != 0, "context_length must not be zero");
  static_assert(detail::is_rate(config.dropout), "dropout must lie in [0, 1]");
  static_assert(detail::is_rate(config.residual_dropout), "residual_dropout must lie in [0, 1]");
  static_assert(
      detail::is_as_written(config.dropout) && detail::is_as_written(config.residual_dropout),
      "-fsingle-precision-constant changes the rate of dropout: compile without it, or "
      "take a rate like 0.125");
  return true;
}

// `is_short` unless all tokens of the inputs take part: then context_length bounds them.
template <AttentionConfig config, class Query, class Key, class Value, class Out,
          bool is_short = false>
consteval bool check_layer() noexcept {
  using LayoutQuery = detail::LayoutOf<Query>;
  using LayoutKey = detail::LayoutOf<Key>;
  using LayoutValue = detail::LayoutOf<Value>;
  constexpr bool floats =
      detail::holds_floats<Query> && detail::holds_floats<Key> && detail::holds_floats<Value>;
  constexpr bool columns = LayoutQuery::cols == config.d_in && LayoutKey::cols == config.d_in &&
                           LayoutValue::cols == config.d_in;
  constexpr bool batches = detail::same_batch<Query, Key> && detail::same_batch<Query, Value>;
  constexpr bool lengths = is_short || (LayoutQuery::rows <= config.context_length &&
                                        LayoutKey::rows <= config.context_length);
  constexpr bool writable = detail::is_writable<Out>,
                 fits = detail::same_shape<Out, detail::WithCols<Query, config.d_out>>;
  constexpr bool sources = LayoutKey::rows == LayoutValue::rows;
  constexpr bool inputs = floats && columns && sources && batches && lengths;
  static_assert(floats, "x must hold floats");
  static_assert(columns, "x must have d_in columns");
  static_assert(sources, "key and value inputs must have the same number of tokens");
  static_assert(batches, "query, key and value inputs must have the same batch extents");
  static_assert(lengths, "more tokens than context_length");
  static_assert(!inputs || writable, "out must hold floats, and not be const");
  static_assert(!inputs || !writable || fits, "out must have the tokens of x and d_out columns");
  return inputs && writable && fits;
}

// One cache belongs to one sequence of tokens.
template <class TensorX>
consteval bool check_cached() noexcept {
  constexpr bool is_matrix = detail::LayoutOf<TensorX>::batch == 1;
  static_assert(is_matrix,
                "a call with a cache takes a matrix: each item of a batch needs a cache");
  return is_matrix;
}

template <AttentionConfig config, class Query, class Key, class Weights>
consteval bool check_head_weights() noexcept {
  using Expected = detail::WithHeads<Query, config.num_heads, detail::LayoutOf<Key>::rows>;
  constexpr bool fits = detail::same_shape<Weights, Expected> && detail::is_writable<Weights>;
  static_assert(fits, "weights must be [..., num_heads, tokens, source tokens], and not const");
  return fits;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
