// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention: softmax(Q . K^T / sqrt(d_k)) . V, Vaswani et al., "Attention Is All You Need",
// 2017, equation 1; torch.nn.functional.scaled_dot_product_attention, but that a query which sees nothing
// gives zeros.
#pragma once

#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE {

namespace kernel {

template <class Mask, std::size_t Tokens, std::size_t SourceTokens>
constexpr void check_mask() noexcept {
  static_assert(detail::MaskShape<Mask>::is_mask,
                "this is no mask: a Tensor<bool> alone does not say whether true hides or keeps; BlockMask and KeepMask do");
  if constexpr (detail::MaskShape<Mask>::is_mask)
    static_assert(detail::MaskShape<Mask>::template fits<Tokens, SourceTokens>, "mask must be [tokens, source tokens] or [source tokens]");
}

template <class Query, class Key, class Value>
constexpr void check_attention_shapes() noexcept {
  using LayoutQuery = detail::LayoutOf<Query>;
  using LayoutKey = detail::LayoutOf<Key>;
  using LayoutValue = detail::LayoutOf<Value>;
  static_assert(LayoutQuery::cols == LayoutKey::cols, "query and key must have the same number of columns");
  static_assert(LayoutKey::rows == LayoutValue::rows, "key and value must have the same number of rows");
  static_assert(detail::same_batch<Query, Key> && detail::same_batch<Query, Value>,
                "query, key and value must have the same batch extents");
  static_assert(detail::holds_floats<Query> && detail::holds_floats<Key> && detail::holds_floats<Value>,
                "query, key and value must hold floats");
}

// Item after item, block after block; the scores of one block stand on the stack. take_weights(item, i, row, end) is shown the weights.
template <class Port, class Query, class Key, class Value, class Mask, class Out>
constexpr void scaled_dot_product_attention(const Query& query, const Key& key, const Value& value, const Mask& mask, Out& out,
                                            const auto& take_weights) noexcept {
  using LayoutQuery = detail::LayoutOf<Query>;
  using LayoutKey = detail::LayoutOf<Key>;
  using LayoutValue = detail::LayoutOf<Value>;
  constexpr std::size_t query_rows = evenly(LayoutQuery::rows, Port::query_rows), row_size = padded<Port>(LayoutKey::rows);
  float scores[query_rows * row_size];
  const kernel::Mask keys_seen = mask_of(mask, LayoutQuery::rows, LayoutKey::rows);
  for (std::size_t item = 0; item < LayoutQuery::batch; ++item)
    attend<Port, true>({LayoutQuery::rows,
                        query_rows,
                        LayoutQuery::cols,
                        LayoutValue::cols,
                        0,
                        item,
                        input(query, item),
                        input(key, item),
                        input(value, item),
                        {scores, row_size},
                        output(out, item),
                        detail::inverse_sqrt<LayoutQuery::cols>},
                       keys_seen, take_weights);
}

}  // namespace kernel

// out and weights of softmax(query . key^T / sqrt(d_k) + mask) . value
//
//   query    [..., tokens, d_k]
//   key      [..., source tokens, d_k]
//   value    [..., source tokens, d_v]
//   mask     NoMask, Causal, CausalBottomRight, BlockMask, KeepMask or AdditiveMask; the same for the whole batch
//   out      [..., tokens, d_v]            overwritten; may not overlap the inputs
//   weights  [..., tokens, source tokens]  overwritten; a masked one is 0
//
// A masked key is skipped: a NaN in it does not leak. A query that sees no key gives zeros. The scores of a few
// rows stand on the stack: 4 x source tokens floats with the scalar port.
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out, tensor_like Weights>
constexpr void scaled_dot_product_attention(const Query& query, const Key& key, const Value& value, const Mask& mask, Out& out,
                                            Weights& weights) noexcept {
  kernel::check_attention_shapes<Query, Key, Value>();
  kernel::check_mask<Mask, detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows>();
  static_assert(detail::same_shape<Out, detail::WithCols<Query, detail::LayoutOf<Value>::cols>>,
                "out must have the rows of query and the columns of value");
  static_assert(detail::same_shape<Weights, detail::WithCols<Query, detail::LayoutOf<Key>::rows>>,
                "weights must have the rows of query and a column for each row of key");
  static_assert(detail::LayoutOf<Weights>::stride == detail::LayoutOf<Weights>::cols, "weights must be a tensor, not a view");
  on_native_port([&](auto port) {
    kernel::scaled_dot_product_attention<decltype(port)>(
        query, key, value, mask, out, kernel::copy_weights<detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows>(weights.data()));
  });
}

template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
constexpr void scaled_dot_product_attention(const Query& query, const Key& key, const Value& value, const Mask& mask, Out& out) noexcept {
  kernel::check_attention_shapes<Query, Key, Value>();
  kernel::check_mask<Mask, detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows>();
  static_assert(detail::same_shape<Out, detail::WithCols<Query, detail::LayoutOf<Value>::cols>>,
                "out must have the rows of query and the columns of value");
  on_native_port(
      [&](auto port) { kernel::scaled_dot_product_attention<decltype(port)>(query, key, value, mask, out, kernel::ignore_weights()); });
}

template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask = NoMask>
constexpr auto scaled_dot_product_attention(const Query& query, const Key& key, const Value& value, const Mask& mask = {}) noexcept {
  detail::WithCols<Query, detail::LayoutOf<Value>::cols> out;
  scaled_dot_product_attention(query, key, value, mask, out);
  return out;
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE

TINYATTN_END
