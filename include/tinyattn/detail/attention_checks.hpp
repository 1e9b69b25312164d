// SPDX-License-Identifier: MIT
//
// Checks of the inputs and outputs of attention. A static_assert diagnoses what is wrong, and the
// caller then computes nothing, so that no page of errors follows.
#pragma once

#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/shape.hpp"

#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// --- Of attention ---

// `Heads` is their number if each may have a mask of its own, and `Batch` that of batch elements
// if each of these may.
template <class Mask, std::size_t Tokens, std::size_t SourceTokens, std::size_t Heads = 0,
          std::size_t Batch = 1>
consteval bool check_mask() noexcept {
  constexpr bool is_mask = mask_type<Mask>;
  constexpr bool is_floats = std::is_same_v<std::remove_all_extents_t<Mask>, float> || requires {
    requires std::is_same_v<typename Mask::value_type, float>;
  };
  static_assert(!is_floats, "this is no mask: floats that are added to scores are an AdditiveMask");
  static_assert(is_mask || is_floats,
                "this is no mask: a Tensor<bool> alone does not say whether true masks or keeps; "
                "BlockMask and KeepMask do");
  if constexpr (is_mask) {
    constexpr bool fits = mask_fits<Mask, Tokens, SourceTokens, Heads, Batch>();
    static_assert(fits || Heads != 0, "mask must be [tokens, source tokens] or [source tokens]");
    static_assert(fits || Heads == 0,
                  "mask must be [tokens, source tokens], [source tokens] or, with a mask for each "
                  "head, [num_heads, tokens, source tokens]");
    return fits;
  }
  return false;
}

template <class Mask, class Query, class Key, std::size_t Heads = 0, std::size_t Batch = 1>
consteval bool check_mask_of() noexcept {
  return check_mask<Mask, LayoutOf<Query>::rows, LayoutOf<Key>::rows, Heads, Batch>();
}

template <class Query, class Key, class Value>
consteval bool check_attention_inputs() noexcept {
  using LayoutQuery = LayoutOf<Query>;
  using LayoutKey = LayoutOf<Key>;
  using LayoutValue = LayoutOf<Value>;
  constexpr bool floats = holds_floats<Query> && holds_floats<Key> && holds_floats<Value>;
  constexpr bool batches = same_batch<Query, Key> && same_batch<Query, Value>;
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
  constexpr bool fits = same_shape<Out, WithCols<Query, LayoutOf<Value>::cols>>;
  if constexpr (!check_attention_inputs<Query, Key, Value>() ||
                !check_mask<Mask, LayoutOf<Query>::rows, LayoutOf<Key>::rows>())
    return false;
  else {
    static_assert(is_writable<Out>, "out must hold floats, and not be const");
    static_assert(!is_writable<Out> || fits,
                  "out must have the rows of query and the columns of value");
    return is_writable<Out> && fits;
  }
}

template <class Query, class Key, class Weights>
consteval bool check_weights() noexcept {
  constexpr bool fits = same_shape<Weights, WithCols<Query, LayoutOf<Key>::rows>>;
  constexpr bool is_whole =
      LayoutOf<Weights>::stride == LayoutOf<Weights>::cols && is_writable<Weights>;
  static_assert(fits, "weights must have the rows of query and a column for each row of key");
  static_assert(!fits || is_whole, "weights must be a tensor, not a view, and not be const");
  return fits && is_whole;
}

// Without counted_at_run_time, all rows of the inputs are tokens, and may be no more than
// context_length.
template <auto config, class Query, class Key, class Value, class Out,
          bool counted_at_run_time = false>
consteval bool check_layer() noexcept {
  using LayoutQuery = LayoutOf<Query>;
  using LayoutKey = LayoutOf<Key>;
  using LayoutValue = LayoutOf<Value>;
  constexpr bool floats = holds_floats<Query> && holds_floats<Key> && holds_floats<Value>;
  constexpr bool columns = LayoutQuery::cols == config.d_in && LayoutKey::cols == d_key<config> &&
                           LayoutValue::cols == d_value<config>;
  constexpr bool batches = same_batch<Query, Key> && same_batch<Query, Value>;
  constexpr bool lengths = counted_at_run_time || (LayoutQuery::rows <= config.context_length &&
                                                   LayoutKey::rows <= config.context_length);
  constexpr bool writable = is_writable<Out>, fits = same_shape<Out, WithCols<Query, config.d_out>>;
  constexpr bool sources = LayoutKey::rows == LayoutValue::rows;
  constexpr bool inputs = floats && columns && sources && batches && lengths;
  static_assert(floats, "x must hold floats");
  static_assert(columns || has_other_sources<config>, "x must have d_in columns");
  static_assert(columns || !has_other_sources<config>,
                "inputs of query, key and value must have d_in, d_key and d_value columns");
  static_assert(sources, "key and value inputs must have the same number of tokens");
  static_assert(batches, "query, key and value inputs must have the same batch extents");
  static_assert(lengths, "more tokens than context_length");
  static_assert(!inputs || writable, "out must hold floats, and not be const");
  static_assert(!inputs || !writable || fits, "out must have the tokens of x and d_out columns");
  return inputs && writable && fits;
}

// Requires an x that is no batch, because one cache belongs to one sequence of tokens.
template <class TensorX>
consteval bool check_cached() noexcept {
  constexpr bool is_matrix = LayoutOf<TensorX>::batch == 1;
  static_assert(is_matrix,
                "a call with a cache takes a matrix: each element of a batch needs a cache");
  return is_matrix;
}

template <auto config, class Query, class Key, class Weights>
consteval bool check_head_weights() noexcept {
  using Expected = WithHeads<Query, config.num_heads, LayoutOf<Key>::rows + config.bias_kv>;
  constexpr bool fits = same_shape<Weights, Expected> && is_writable<Weights>;
  static_assert(fits, "weights must be [..., num_heads, tokens, source tokens], and not const");
  return fits;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
