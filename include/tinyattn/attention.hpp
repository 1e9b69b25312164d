// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention: softmax(Q . K^T / sqrt(d_k)) . V, Vaswani et al., "Attention Is All
// You Need", 2017, equation 1. It is torch.nn.functional.scaled_dot_product_attention, except that
// a query whose keys are all masked gives zeros.
#pragma once

#include "tinyattn/detail/attention_checks.hpp"
#include "tinyattn/detail/scaled_dot_product.hpp"
#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Writes softmax(query . key^T / sqrt(d_k) + mask) . value to out, and the softmax to weights.
//
//   query    [..., tokens, d_k]
//   key      [..., source tokens, d_k]
//   value    [..., source tokens, d_v]
//   mask     a mask of mask.hpp, such as NoMask{}; the same for the whole batch
//   out      [..., tokens, d_v]            overwritten; may not overlap the inputs
//   weights  [..., tokens, source tokens]  overwritten; the weight of a masked key is 0
//
// A masked key is skipped: a NaN in it does not leak. A query whose keys are all masked gives
// zeros. The stack holds the scores of a few queries, one float for each source token: of up to 4
// queries, 12 with AVX2, 16 with AVX-512. The scores of a query are padded to whole vectors, or to
// a multiple of 4 on a Cortex-M with an FPU.
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out,
          tensor_like... Weights>
requires detail::at_most_one<Weights...>
constexpr void scaled_dot_product_attention(const Query& query, const Key& key, const Value& value,
                                            const Mask& mask, Out& out,
                                            Weights&... weights) noexcept {
  if constexpr (detail::check_attention<Query, Key, Value, Mask, Out>() &&
                (... && detail::check_weights<Query, Key, Weights>()))
    on_native_port([&](auto port) {
      detail::scaled_dot_product_attention<decltype(port)>(
          query, key, value, mask, out, detail::copy_weights<Query, Key>(weights...));
    });
}

// By value: the result is on the stack.
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask = NoMask>
constexpr auto scaled_dot_product_attention(const Query& query, const Key& key, const Value& value,
                                            const Mask& mask = {}) noexcept {
  detail::WithCols<Query, detail::LayoutOf<Value>::cols> out;
  scaled_dot_product_attention(query, key, value, mask, out);
  return out;
}

TINYATTN_DIAGNOSTIC(class First, scaled_dot_product_attention(const First&, ...),
                    "scaled_dot_product_attention takes (query, key, value), then mask, then out, "
                    "then weights; the last two are neither const nor temporaries")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
