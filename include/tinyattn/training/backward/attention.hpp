// SPDX-License-Identifier: MIT
//
// The backward pass of scaled dot-product attention.
#pragma once

#include "tinyattn/attention.hpp"
#include "tinyattn/detail/attention_checks.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/attention.hpp"
#include "tinyattn/training/kernel/block.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Processes one batch element after the other, a few queries at a time: they and their scores are
// on the stack.
template <class Port, class Query, class Key, class Value, class Mask>
constexpr void attention_backward(const Query& query, const Key& key, const Value& value,
                                  const Mask& mask, const auto& output_gradient,
                                  auto& query_gradient, auto& key_gradient,
                                  auto& value_gradient) noexcept {
  constexpr std::size_t tokens = LayoutOf<Query>::rows, source_tokens = LayoutOf<Key>::rows,
                        key_dim = LayoutOf<Query>::cols, value_dim = LayoutOf<Value>::cols,
                        most = kernel::minimum(tokens, Port::query_rows),
                        row_size = kernel::room_of_scores<Port>(source_tokens);
  float weights[most * row_size], d_scores[most * row_size], queries[most * key_dim];
  const kernel::Mask described = kernel_mask(mask, tokens, source_tokens);
  if constexpr (!is_no_gradient<decltype(key_gradient)>) fill_with_zeros(key_gradient);
  if constexpr (!is_no_gradient<decltype(value_gradient)>) fill_with_zeros(value_gradient);
  for (std::size_t element = 0; element < LayoutOf<Query>::batch; ++element)
    for (std::size_t first = 0; first < tokens; first += most) {
      const kernel::QueryBlock block{
          first, kernel::minimum(most, tokens - first), {queries, key_dim}};
      kernel::copy_rows<Port>(block.rows, key_dim, input(query, element).from(first, 0),
                              block.queries);
      kernel::attend_block_backward<Port>(
          kernel::AttentionBackward{tokens,
                                    most,
                                    key_dim,
                                    value_dim,
                                    element,
                                    block.queries,
                                    input(key, element),
                                    input(value, element),
                                    output_or_none(key_gradient, element),
                                    output_or_none(value_gradient, element),
                                    {weights, row_size},
                                    {d_scores, row_size},
                                    inverse_sqrt<key_dim>},
          block, described, kernel::NoReplay{}, [&](const kernel::QueryBlock&, kernel::Output) {
            return input(output_gradient, element).from(first, 0);
          });
      if constexpr (!is_no_gradient<decltype(query_gradient)>)
        kernel::copy_rows<Port>(block.rows, key_dim, block.queries,
                                output(query_gradient, element).from(first, 0));
    }
}

}  // namespace detail

// Writes the gradients of query, key and value, given output_gradient, that of the result of
// scaled_dot_product_attention. Weights are computed again. A masked key is skipped; a query whose
// keys are all masked has a gradient of zeros.
//
//   query, query_gradient  [..., tokens, d_k]
//   key, key_gradient      [..., source tokens, d_k]
//   value, value_gradient  [..., source tokens, d_v]
//   mask                   that of the forward pass
//   output_gradient        [..., tokens, d_v]
//
// A gradient may be no_gradient; it may not overlap the inputs, except that query_gradient may be
// query. The stack holds a few queries and twice their scores.
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask,
          tensor_like OutputGradient, class QueryGradient, class KeyGradient, class ValueGradient>
constexpr void scaled_dot_product_attention_backward(const Query& query, const Key& key,
                                                     const Value& value, const Mask& mask,
                                                     const OutputGradient& output_gradient,
                                                     QueryGradient& query_gradient,
                                                     KeyGradient& key_gradient,
                                                     ValueGradient& value_gradient) noexcept {
  using Output = detail::WithCols<Query, detail::LayoutOf<Value>::cols>;
  if constexpr (detail::check_attention<Query, Key, Value, Mask, Output>() &&
                detail::check_backward_function<OutputGradient, Output, QueryGradient, Query>() &&
                detail::check_backward_function<OutputGradient, Output, KeyGradient, Key>() &&
                detail::check_backward_function<OutputGradient, Output, ValueGradient, Value>())
    on_native_port([&](auto port) {
      detail::attention_backward<decltype(port)>(query, key, value, mask, output_gradient,
                                                 query_gradient, key_gradient, value_gradient);
    });
}

TINYATTN_DIAGNOSTIC(
    class First, scaled_dot_product_attention_backward(const First&, ...),
    "scaled_dot_product_attention_backward takes (query, key, value, mask, output_gradient, "
    "query_gradient, key_gradient, value_gradient): gradients are neither const nor temporaries")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
