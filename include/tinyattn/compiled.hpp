// SPDX-License-Identifier: MIT
//
// The compiled library, libtinyattn, for Tensors and layers: a call of tinyattn::compiled::NAME in
// place of tinyattn::NAME, or of compiled::forward(layer, ...) in place of layer.forward(...),
// computes the same bits with code that all shapes share. It pays in flash from five shapes on
// (src/README.md); on x86-64 it takes the best instruction set of the processor, whatever the
// program is built for.
//
// Link with libtinyattn, or compile src/library.cpp with your firmware. Nothing here runs inside
// the compiler. Tensors only, no views.
#pragma once

#include "tinyattn/mask.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/tinyattn.h"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::compiled {

namespace detail {

template <class M>
using LayoutOf = tinyattn::detail::LayoutOf<M>;

template <class... Ms>
consteval bool check_whole() noexcept {
  constexpr bool whole = (... && (LayoutOf<Ms>::stride == LayoutOf<Ms>::cols));
  static_assert(whole, "the compiled library takes tensors, not views");
  return whole;
}

// Matrix `item` of a batch.
template <class M>
auto* matrix_of(M& m, std::size_t item) noexcept {
  return m.data() + item * LayoutOf<M>::rows * LayoutOf<M>::cols;
}

inline tinyattn_mask mask_of(NoMask) noexcept {
  return {TINYATTN_NO_MASK, false, nullptr, nullptr};
}
inline tinyattn_mask mask_of(Causal) noexcept { return {TINYATTN_CAUSAL, false, nullptr, nullptr}; }
inline tinyattn_mask mask_of(CausalBottomRight) noexcept {
  return {TINYATTN_CAUSAL_BOTTOM_RIGHT, false, nullptr, nullptr};
}
template <std::size_t... Extents>
tinyattn_mask mask_of(const BlockMask<Extents...>& mask) noexcept {
  return {TINYATTN_BLOCK_MASK, sizeof...(Extents) == 1, mask.tensor.data(), nullptr};
}
template <std::size_t... Extents>
tinyattn_mask mask_of(const KeepMask<Extents...>& mask) noexcept {
  return {TINYATTN_KEEP_MASK, sizeof...(Extents) == 1, mask.tensor.data(), nullptr};
}
template <std::size_t... Extents>
tinyattn_mask mask_of(const AdditiveMask<Extents...>& mask) noexcept {
  return {TINYATTN_ADDITIVE_MASK, sizeof...(Extents) == 1, nullptr, mask.tensor.data()};
}

template <std::size_t In, std::size_t Out, bool HasBias>
tinyattn_linear linear_of(const Linear<In, Out, HasBias>& linear) noexcept {
  if constexpr (HasBias)
    return {linear.weight.data(), linear.bias.data()};
  else
    return {linear.weight.data(), nullptr};
}
inline tinyattn_linear linear_of(const auto&) noexcept { return {nullptr, nullptr}; }

template <AttentionConfig config>
tinyattn_layer layer_of(const MultiHeadAttention<config>& layer) noexcept {
  return {config.d_in,
          config.d_out,
          config.num_heads,
          config.causal,
          linear_of(layer.query),
          linear_of(layer.key),
          linear_of(layer.value),
          linear_of(layer.out_proj)};
}

// A status that shapes in types have ruled out.
inline void always(tinyattn_status) noexcept {}

}  // namespace detail

// out = a . b, as tinyattn::matmul.
template <tensor_like A, tensor_like B, tensor_like Out>
void matmul(const A& a, const B& b, Out& out) noexcept {
  using LayoutA = tinyattn::detail::LayoutOf<A>;
  using LayoutB = tinyattn::detail::LayoutOf<B>;
  if constexpr (kernel::check_matmul<A, B, Out>() && detail::check_whole<A, B, Out>())
    for (std::size_t item = 0; item < LayoutA::batch; ++item)
      detail::always(tinyattn_matmul(
          LayoutA::rows, LayoutA::cols, LayoutB::cols, detail::matrix_of(a, item),
          detail::matrix_of(b, LayoutB::batch == 1 ? 0 : item), detail::matrix_of(out, item)));
}

// out = a . b transposed, as tinyattn::matmul_transposed.
template <tensor_like A, tensor_like B, tensor_like Out>
void matmul_transposed(const A& a, const B& b, Out& out) noexcept {
  using LayoutA = tinyattn::detail::LayoutOf<A>;
  using LayoutB = tinyattn::detail::LayoutOf<B>;
  if constexpr (kernel::check_matmul_transposed<A, B, Out>() && detail::check_whole<A, B, Out>())
    for (std::size_t item = 0; item < LayoutA::batch; ++item)
      detail::always(tinyattn_matmul_transposed(
          LayoutA::rows, LayoutA::cols, LayoutB::rows, detail::matrix_of(a, item),
          detail::matrix_of(b, LayoutB::batch == 1 ? 0 : item), detail::matrix_of(out, item)));
}

// Each row of scale * m, as tinyattn::softmax; scale >= 0. `out` may be m.
template <tensor_like M, tensor_like Out>
void softmax(const M& m, float scale, Out& out) noexcept {
  using LayoutM = tinyattn::detail::LayoutOf<M>;
  if constexpr (kernel::check_rows<M, Out>() && detail::check_whole<M, Out>())
    detail::always(tinyattn_softmax(LayoutM::batch * LayoutM::rows, LayoutM::cols, scale,
                                    detail::matrix_of(m, 0), detail::matrix_of(out, 0)));
}

// The scratch of an attention over Tokens queries and SourceTokens keys.
template <std::size_t Tokens, std::size_t SourceTokens>
struct AttentionWorkspace {
  float scratch[TINYATTN_ATTENTION_SCRATCH(Tokens, SourceTokens)];
};

// softmax(query . key^T / sqrt(d_k) + mask) . value, as tinyattn::scaled_dot_product_attention.
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
void scaled_dot_product_attention(
    const Query& query, const Key& key, const Value& value, const Mask& mask, Out& out,
    AttentionWorkspace<detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows>&
        workspace) noexcept {
  using LayoutQuery = tinyattn::detail::LayoutOf<Query>;
  using LayoutValue = tinyattn::detail::LayoutOf<Value>;
  if constexpr (kernel::check_attention<Query, Key, Value, Mask, Out>() &&
                detail::check_whole<Query, Key, Value, Out>()) {
    const tinyattn_mask masked = detail::mask_of(mask);
    for (std::size_t item = 0; item < LayoutQuery::batch; ++item)
      detail::always(tinyattn_attention(LayoutQuery::rows, LayoutValue::rows, LayoutQuery::cols,
                                        LayoutValue::cols, detail::matrix_of(query, item),
                                        detail::matrix_of(key, item),
                                        detail::matrix_of(value, item), &masked,
                                        detail::matrix_of(out, item), workspace.scratch));
  }
}

// A layer's own workspace serves the library too.
template <class Layer>
using Workspace = typename Layer::Workspace;

// Cross-attention, as layer.forward(query_input, key_input, value_input, mask, out, workspace).
// `out` may be query_input.
template <AttentionConfig config, tensor_like Query, tensor_like Key, tensor_like Value, class Mask,
          tensor_like Out>
void forward(const MultiHeadAttention<config>& layer, const Query& query_input,
             const Key& key_input, const Value& value_input, const Mask& mask, Out& out,
             typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  using LayoutQuery = tinyattn::detail::LayoutOf<Query>;
  if constexpr (kernel::check_layer<config, Query, Key, Value, Out>() &&
                kernel::check_mask<Mask, LayoutQuery::rows, detail::LayoutOf<Key>::rows>() &&
                detail::check_whole<Query, Key, Value, Out>()) {
    const tinyattn_layer described = detail::layer_of(layer);
    const tinyattn_mask masked = detail::mask_of(mask);
    for (std::size_t item = 0; item < LayoutQuery::batch; ++item)
      detail::always(tinyattn_cross_forward(
          &described, LayoutQuery::rows, detail::LayoutOf<Key>::rows,
          detail::matrix_of(query_input, item), detail::matrix_of(key_input, item),
          detail::matrix_of(value_input, item), &masked, detail::matrix_of(out, item),
          workspace.scratch));
  }
}

// Self-attention with one more mask. `out` may be x.
template <AttentionConfig config, tensor_like X, class Mask, tensor_like Out>
requires(!std::is_convertible_v<Mask, std::size_t>) void forward(
    const MultiHeadAttention<config>& layer, const X& x, const Mask& mask, Out& out,
    typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  forward(layer, x, x, x, mask, out, workspace);
}

// The first num_tokens rows of each item of x, as layer.forward(x, num_tokens, out, workspace).
template <AttentionConfig config, tensor_like X, tensor_like Out>
[[nodiscard]] Status forward(const MultiHeadAttention<config>& layer, const X& x,
                             std::size_t num_tokens, Out& out,
                             typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  using LayoutX = tinyattn::detail::LayoutOf<X>;
  if constexpr (kernel::check_layer<config, X, X, X, Out, true>() &&
                detail::check_whole<X, Out>()) {
    if (num_tokens > config.context_length || num_tokens > LayoutX::rows)
      return Status::too_many_tokens;
    const tinyattn_layer described = detail::layer_of(layer);
    for (std::size_t item = 0; item < LayoutX::batch; ++item)
      detail::always(tinyattn_forward(&described, num_tokens, detail::matrix_of(x, item),
                                      detail::matrix_of(out, item), workspace.scratch));
  }
  return Status::ok;
}

// Self-attention. `out` may be x.
template <AttentionConfig config, tensor_like X, tensor_like Out>
void forward(const MultiHeadAttention<config>& layer, const X& x, Out& out,
             typename MultiHeadAttention<config>::Workspace& workspace) noexcept {
  if constexpr (kernel::check_layer<config, X, X, X, Out>())
    static_cast<void>(forward(layer, x, tinyattn::detail::LayoutOf<X>::rows, out, workspace));
}

}  // namespace tinyattn::compiled

TINYATTN_END
