// SPDX-License-Identifier: MIT
//
// The compiled library, libtinyattn, for Tensors and layers: a call of tinyattn::compiled::NAME in place of tinyattn::NAME, or of
// compiled::forward(layer, ...) in place of layer.forward(...), computes the same bits with code that all shapes share. It pays in flash
// from the second or third shape on; on x86-64 it takes the best instruction set of the processor, whatever the program is built for.
//
// Link with libtinyattn, or compile src/library.cpp with your firmware. Nothing here runs inside the compiler. Tensors only, no views.
#pragma once

#include "tinyattn/mask.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/tinyattn.h"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::compiled {

namespace detail {

template <class M>
using LayoutOf = tinyattn::detail::LayoutOf<M>;

template <class M>
inline constexpr bool is_whole = LayoutOf<M>::stride == LayoutOf<M>::cols&& tinyattn::detail::holds_floats<M>;

// Matrix `item` of a batch.
template <class M>
auto* matrix_of(M& m, std::size_t item) noexcept {
  static_assert(is_whole<M>, "the compiled library takes tensors of float, not views");
  return m.data() + item * LayoutOf<M>::rows * LayoutOf<M>::cols;
}

inline tinyattn_mask mask_of(NoMask) noexcept { return {TINYATTN_NO_MASK, false, nullptr, nullptr}; }
inline tinyattn_mask mask_of(Causal) noexcept { return {TINYATTN_CAUSAL, false, nullptr, nullptr}; }
inline tinyattn_mask mask_of(CausalBottomRight) noexcept { return {TINYATTN_CAUSAL_BOTTOM_RIGHT, false, nullptr, nullptr}; }
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
  return {config.d_in,          config.d_out,           config.num_heads,         config.causal, linear_of(layer.query),
          linear_of(layer.key), linear_of(layer.value), linear_of(layer.out_proj)};
}

// A status that shapes in types have ruled out.
inline void always(tinyattn_status) noexcept {}

}  // namespace detail

// out = a . b, as tinyattn::matmul.
template <tensor_like A, tensor_like B, tensor_like Out>
void matmul(const A& a, const B& b, Out& out) noexcept {
  using LayoutA = tinyattn::detail::LayoutOf<A>;
  using LayoutB = tinyattn::detail::LayoutOf<B>;
  static_assert(LayoutA::cols == LayoutB::rows, "columns of a must equal rows of b");
  static_assert(LayoutB::batch == 1 || tinyattn::detail::same_batch<A, B>, "b must be one matrix, or as many as a has");
  static_assert(tinyattn::detail::same_shape<Out, tinyattn::detail::WithCols<A, LayoutB::cols>>,
                "out must have the rows of a and the columns of b");
  for (std::size_t item = 0; item < LayoutA::batch; ++item)
    detail::always(tinyattn_matmul(LayoutA::rows, LayoutA::cols, LayoutB::cols, detail::matrix_of(a, item),
                                   detail::matrix_of(b, LayoutB::batch == 1 ? 0 : item), detail::matrix_of(out, item)));
}

// out = a . b transposed, as tinyattn::matmul_transposed.
template <tensor_like A, tensor_like B, tensor_like Out>
void matmul_transposed(const A& a, const B& b, Out& out) noexcept {
  using LayoutA = tinyattn::detail::LayoutOf<A>;
  using LayoutB = tinyattn::detail::LayoutOf<B>;
  static_assert(LayoutA::cols == LayoutB::cols, "columns of a must equal columns of b");
  static_assert(LayoutB::batch == 1 || tinyattn::detail::same_batch<A, B>, "b must be one matrix, or as many as a has");
  static_assert(tinyattn::detail::same_shape<Out, tinyattn::detail::WithCols<A, LayoutB::rows>>,
                "out must have the rows of a and a column for each row of b");
  for (std::size_t item = 0; item < LayoutA::batch; ++item)
    detail::always(tinyattn_matmul_transposed(LayoutA::rows, LayoutA::cols, LayoutB::rows, detail::matrix_of(a, item),
                                              detail::matrix_of(b, LayoutB::batch == 1 ? 0 : item), detail::matrix_of(out, item)));
}

// Each row of scale * m, as tinyattn::softmax; scale >= 0. `out` may be m.
template <tensor_like M, tensor_like Out>
void softmax(const M& m, float scale, Out& out) noexcept {
  using LayoutM = tinyattn::detail::LayoutOf<M>;
  static_assert(tinyattn::detail::same_shape<M, Out>, "out must have the shape of m");
  detail::always(
      tinyattn_softmax(LayoutM::batch * LayoutM::rows, LayoutM::cols, scale, detail::matrix_of(m, 0), detail::matrix_of(out, 0)));
}

// The scratch of an attention over Tokens queries and SourceTokens keys.
template <std::size_t Tokens, std::size_t SourceTokens>
struct AttentionWorkspace {
  float scratch[TINYATTN_ATTENTION_SCRATCH(Tokens, SourceTokens)];
};

// softmax(query . key^T / sqrt(d_k) + mask) . value, as tinyattn::scaled_dot_product_attention.
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
void scaled_dot_product_attention(const Query& query, const Key& key, const Value& value, const Mask& mask, Out& out,
                                  AttentionWorkspace<detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows>& workspace) noexcept {
  using LayoutQuery = tinyattn::detail::LayoutOf<Query>;
  using LayoutValue = tinyattn::detail::LayoutOf<Value>;
  kernel::check_attention_shapes<Query, Key, Value>();
  kernel::check_mask<Mask, LayoutQuery::rows, LayoutValue::rows>();
  static_assert(tinyattn::detail::same_shape<Out, tinyattn::detail::WithCols<Query, LayoutValue::cols>>,
                "out must have the rows of query and the columns of value");
  const tinyattn_mask masked = detail::mask_of(mask);
  for (std::size_t item = 0; item < LayoutQuery::batch; ++item)
    detail::always(tinyattn_attention(LayoutQuery::rows, LayoutValue::rows, LayoutQuery::cols, LayoutValue::cols,
                                      detail::matrix_of(query, item), detail::matrix_of(key, item), detail::matrix_of(value, item), &masked,
                                      detail::matrix_of(out, item), workspace.scratch));
}

// All the scratch of a layer, for inputs of any length up to its context_length.
template <class Layer>
struct Workspace;
template <AttentionConfig config>
struct Workspace<MultiHeadAttention<config>> {
  float scratch[TINYATTN_LAYER_SCRATCH(config.d_out, config.context_length, config.context_length)];
};

// Cross-attention, as layer.forward(query_input, key_input, value_input, mask, out, workspace). `out` may be query_input.
template <AttentionConfig config, tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
void forward(const MultiHeadAttention<config>& layer, const Query& query_input, const Key& key_input, const Value& value_input,
             const Mask& mask, Out& out, Workspace<MultiHeadAttention<config>>& workspace) noexcept {
  using LayoutQuery = tinyattn::detail::LayoutOf<Query>;
  using LayoutKey = tinyattn::detail::LayoutOf<Key>;
  static_assert(LayoutQuery::cols == config.d_in && LayoutKey::cols == config.d_in, "x must have d_in columns");
  static_assert(tinyattn::detail::same_shape<Key, Value>, "key and value inputs must have the same shape");
  static_assert(tinyattn::detail::same_batch<Query, Key>, "query, key and value inputs must have the same batch extents");
  static_assert(LayoutQuery::rows <= config.context_length && LayoutKey::rows <= config.context_length, "more tokens than context_length");
  static_assert(tinyattn::detail::same_shape<Out, tinyattn::detail::WithCols<Query, config.d_out>>,
                "out must have the tokens of x and d_out columns");
  kernel::check_mask<Mask, LayoutQuery::rows, LayoutKey::rows>();
  const tinyattn_layer described = detail::layer_of(layer);
  const tinyattn_mask masked = detail::mask_of(mask);
  for (std::size_t item = 0; item < LayoutQuery::batch; ++item)
    detail::always(tinyattn_cross_forward(&described, LayoutQuery::rows, LayoutKey::rows, detail::matrix_of(query_input, item),
                                          detail::matrix_of(key_input, item), detail::matrix_of(value_input, item), &masked,
                                          detail::matrix_of(out, item), workspace.scratch));
}

// Self-attention with one more mask. `out` may be x.
template <AttentionConfig config, tensor_like X, class Mask, tensor_like Out>
requires(!std::is_convertible_v<Mask, std::size_t>) void forward(const MultiHeadAttention<config>& layer, const X& x, const Mask& mask,
                                                                 Out& out, Workspace<MultiHeadAttention<config>>& workspace) noexcept {
  forward(layer, x, x, x, mask, out, workspace);
}

// The first num_tokens rows of each item of x, as layer.forward(x, num_tokens, out, workspace).
template <AttentionConfig config, tensor_like X, tensor_like Out>
[[nodiscard]] Status forward(const MultiHeadAttention<config>& layer, const X& x, std::size_t num_tokens, Out& out,
                             Workspace<MultiHeadAttention<config>>& workspace) noexcept {
  using LayoutX = tinyattn::detail::LayoutOf<X>;
  static_assert(LayoutX::cols == config.d_in, "x must have d_in columns");
  static_assert(tinyattn::detail::same_shape<Out, tinyattn::detail::WithCols<X, config.d_out>>,
                "out must have the tokens of x and d_out columns");
  if (num_tokens > config.context_length || num_tokens > LayoutX::rows) return Status::too_many_tokens;
  const tinyattn_layer described = detail::layer_of(layer);
  for (std::size_t item = 0; item < LayoutX::batch; ++item)
    detail::always(tinyattn_forward(&described, num_tokens, detail::matrix_of(x, item), detail::matrix_of(out, item), workspace.scratch));
  return Status::ok;
}

// Self-attention. `out` may be x.
template <AttentionConfig config, tensor_like X, tensor_like Out>
void forward(const MultiHeadAttention<config>& layer, const X& x, Out& out, Workspace<MultiHeadAttention<config>>& workspace) noexcept {
  static_assert(tinyattn::detail::LayoutOf<X>::rows <= config.context_length, "more tokens than context_length");
  static_cast<void>(forward(layer, x, tinyattn::detail::LayoutOf<X>::rows, out, workspace));
}

}  // namespace tinyattn::compiled

TINYATTN_END
