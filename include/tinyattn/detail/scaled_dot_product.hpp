// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention of tensors, on one port.
#pragma once

#include "tinyattn/detail/operands.hpp"
#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Processes one batch element after the other, a few queries at a time, whose scores are on the
// stack. Calls take_weights(element, i, row, end) with the weights of query i, row[0] to row[end -
// 1].
template <class Port, class Query, class Key, class Value, class Mask, class Out>
constexpr void scaled_dot_product_attention(const Query& query, const Key& key, const Value& value,
                                            const Mask& mask, Out& out,
                                            const auto& take_weights) noexcept {
  using LayoutQuery = LayoutOf<Query>;
  using LayoutKey = LayoutOf<Key>;
  using LayoutValue = LayoutOf<Value>;
  constexpr std::size_t query_rows = kernel::evenly(LayoutQuery::rows, Port::query_rows),
                        row_size = kernel::room_of_scores<Port>(LayoutKey::rows);
  float scores[query_rows * row_size];
  const kernel::Mask described = kernel_mask(mask, LayoutQuery::rows, LayoutKey::rows);
  for (std::size_t i = 0; i < LayoutQuery::batch; ++i)
    kernel::attend<Port, true>({LayoutQuery::rows,
                                query_rows,
                                LayoutQuery::cols,
                                LayoutValue::cols,
                                0,
                                i,
                                input(query, i),
                                input(key, i),
                                input(value, i),
                                {scores, row_size},
                                output(out, i),
                                inverse_sqrt<LayoutQuery::cols>},
                               described, take_weights);
}

// Returns a take_weights that copies weights to `out`, [matrices, tokens, source tokens], if there
// is one. Those of the first keys, `biases`, become the last ones.
template <class Query, class Key, std::size_t biases = 0>
constexpr auto copy_weights(auto&... out) noexcept {
  constexpr std::size_t tokens = LayoutOf<Query>::rows, source_tokens = LayoutOf<Key>::rows;
  if constexpr (sizeof...(out) == 0)
    return kernel::IgnoreWeights{};
  else
    return [to = (out.data(), ...)](std::size_t index, std::size_t i, const float* row,
                                    std::size_t end) {
      for (std::size_t j = 0; j < source_tokens + biases; ++j) {
        const std::size_t key = j < source_tokens ? j + biases : j - source_tokens;
        to[(index * tokens + i) * (source_tokens + biases) + j] = key < end ? row[key] : 0.0f;
      }
    };
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
