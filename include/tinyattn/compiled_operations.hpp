// SPDX-License-Identifier: MIT
//
// Operations on Tensors by the compiled library, which compiled.hpp describes.
#pragma once

#include "tinyattn/detail/attention_checks.hpp"
#include "tinyattn/detail/product_checks.hpp"
#include "tinyattn/detail/rows.hpp"
#include "tinyattn/detail/token_checks.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/tinyattn.h"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { namespace compiled { inline namespace TINYATTN_PORT_NAMESPACE {

using tinyattn::detail::Diagnosed;
using tinyattn::detail::no_such_call;

namespace detail {

template <class TensorM>
using LayoutOf = tinyattn::detail::LayoutOf<TensorM>;

template <class... Ms>
consteval bool check_whole() noexcept {
  constexpr bool whole = (... && (LayoutOf<Ms>::stride == LayoutOf<Ms>::cols));
  static_assert(whole, "the compiled library takes tensors, not views");
  return whole;
}

// The first element of matrix `index` of a batch; its rows are next to each other.
template <class TensorM>
auto* matrix_of(TensorM& m, std::size_t index) noexcept {
  return m.data() + index * LayoutOf<TensorM>::rows * LayoutOf<TensorM>::cols;
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

// Ignores a status: types have checked the shapes.
inline void always(tinyattn_status) noexcept {}

}  // namespace detail

// out = a . b, as tinyattn::matmul.
template <tensor_like TensorA, tensor_like TensorB, tensor_like Out>
void matmul(const TensorA& a, const TensorB& b, Out& out) noexcept {
  using LayoutA = tinyattn::detail::LayoutOf<TensorA>;
  using LayoutB = tinyattn::detail::LayoutOf<TensorB>;
  if constexpr (tinyattn::detail::check_matmul<TensorA, TensorB, Out>() &&
                detail::check_whole<TensorA, TensorB, Out>())
    for (std::size_t element = 0; element < LayoutA::batch; ++element)
      detail::always(tinyattn_matmul(LayoutA::rows, LayoutA::cols, LayoutB::cols,
                                     detail::matrix_of(a, element),
                                     detail::matrix_of(b, LayoutB::batch == 1 ? 0 : element),
                                     detail::matrix_of(out, element)));
}

// out = a . b transposed, as tinyattn::matmul_transposed.
template <tensor_like TensorA, tensor_like TensorB, tensor_like Out>
void matmul_transposed(const TensorA& a, const TensorB& b, Out& out) noexcept {
  using LayoutA = tinyattn::detail::LayoutOf<TensorA>;
  using LayoutB = tinyattn::detail::LayoutOf<TensorB>;
  if constexpr (tinyattn::detail::check_matmul_transposed<TensorA, TensorB, Out>() &&
                detail::check_whole<TensorA, TensorB, Out>())
    for (std::size_t element = 0; element < LayoutA::batch; ++element)
      detail::always(tinyattn_matmul_transposed(
          LayoutA::rows, LayoutA::cols, LayoutB::rows, detail::matrix_of(a, element),
          detail::matrix_of(b, LayoutB::batch == 1 ? 0 : element),
          detail::matrix_of(out, element)));
}

template <class TensorM>
Diagnosed matmul(const TensorM&, ...) noexcept {
  static_assert(
      no_such_call<TensorM>,
      "compiled::matmul takes (a, b, out): tensors of float; out is neither const nor a temporary");
  return {};
}

template <class TensorM>
Diagnosed matmul_transposed(const TensorM&, ...) noexcept {
  static_assert(no_such_call<TensorM>,
                "compiled::matmul_transposed takes (a, b, out): tensors of float; out is neither "
                "const nor a temporary");
  return {};
}

// Softmax of each row of scale * m, as tinyattn::softmax. If scale is below 0 or NaN, writes
// nothing and returns TINYATTN_BAD_ARGUMENT. `out` may be m.
template <tensor_like TensorM, tensor_like Out>
tinyattn_status softmax(const TensorM& m, float scale, Out& out) noexcept {
  using LayoutM = tinyattn::detail::LayoutOf<TensorM>;
  if constexpr (tinyattn::detail::check_rows<TensorM, Out>() && detail::check_whole<TensorM, Out>())
    return tinyattn_softmax(LayoutM::batch * LayoutM::rows, LayoutM::cols, scale,
                            detail::matrix_of(m, 0), detail::matrix_of(out, 0));
  return TINYATTN_BAD_ARGUMENT;
}

template <class TensorM>
Diagnosed softmax(const TensorM&, tinyattn::detail::Anything, ...) noexcept {
  static_assert(no_such_call<TensorM>,
                "compiled::softmax takes (m, scale, out): tensors of float; out is neither const "
                "nor a temporary");
  return {};
}

namespace detail {

// Calls a reduction of the library for each matrix of a batch.
template <class TensorX, class Out>
void pool(auto function, const TensorX& x, std::size_t count, Out& out) noexcept {
  using LayoutX = LayoutOf<TensorX>;
  if constexpr (tinyattn::detail::check_pooling<TensorX, Out>() && check_whole<TensorX, Out>())
    for (std::size_t element = 0; element < LayoutX::batch; ++element)
      always(function(count, LayoutX::cols, matrix_of(x, element),
                      out.data() + element * LayoutX::cols));
}

}  // namespace detail

// The mean over tokens, as tinyattn::mean.
template <tensor_like TensorX, tensor_like Out>
void mean(const TensorX& x, Out& out) noexcept {
  detail::pool(tinyattn_mean, x, detail::LayoutOf<TensorX>::rows, out);
}
template <tensor_like TensorX, tensor_like Out>
Status mean(const TensorX& x, std::size_t count, Out& out) noexcept {
  const Status status = tinyattn::detail::check_count<TensorX>(count);
  if (status == Status::ok) detail::pool(tinyattn_mean, x, count, out);
  return status;
}

// The maximum over tokens, as tinyattn::largest.
template <tensor_like TensorX, tensor_like Out>
void largest(const TensorX& x, Out& out) noexcept {
  detail::pool(tinyattn_largest, x, detail::LayoutOf<TensorX>::rows, out);
}
template <tensor_like TensorX, tensor_like Out>
Status largest(const TensorX& x, std::size_t count, Out& out) noexcept {
  const Status status = tinyattn::detail::check_count<TensorX>(count);
  if (status == Status::ok) detail::pool(tinyattn_largest, x, count, out);
  return status;
}

// (x - mean) * inverse_deviation, as tinyattn::standardize. `out` may be x.
template <tensor_like TensorX, tensor_like Mean, tensor_like InverseDeviation, tensor_like Out>
void standardize(const TensorX& x, const Mean& mean, const InverseDeviation& inverse_deviation,
                 Out& out) noexcept {
  using LayoutX = tinyattn::detail::LayoutOf<TensorX>;
  if constexpr (tinyattn::detail::check_features<TensorX, Mean, InverseDeviation>() &&
                tinyattn::detail::check_rows<TensorX, Out>() && detail::check_whole<TensorX, Out>())
    detail::always(tinyattn_standardize(LayoutX::batch * LayoutX::rows, LayoutX::cols,
                                        detail::matrix_of(x, 0), mean.data(),
                                        inverse_deviation.data(), detail::matrix_of(out, 0)));
}

template <class TensorX>
Diagnosed mean(const TensorX&, tinyattn::detail::Anything, ...) noexcept {
  static_assert(no_such_call<TensorX>,
                "compiled::mean takes (x, out) or (x, count, out): tensors of float; out is "
                "neither const nor a temporary");
  return {};
}

template <class TensorX>
Diagnosed largest(const TensorX&, tinyattn::detail::Anything, ...) noexcept {
  static_assert(no_such_call<TensorX>,
                "compiled::largest takes (x, out) or (x, count, out): tensors of float; out is "
                "neither const nor a temporary");
  return {};
}

template <class TensorX>
Diagnosed standardize(const TensorX&, ...) noexcept {
  static_assert(no_such_call<TensorX>,
                "compiled::standardize takes (x, mean, inverse_deviation, out): tensors of float; "
                "out is neither const nor a temporary");
  return {};
}

// The scratch of scaled_dot_product_attention for Tokens queries and SourceTokens keys.
template <std::size_t Tokens, std::size_t SourceTokens>
struct AttentionWorkspace {
  static_assert(tinyattn::detail::is_addressable(sizeof(float),
                                                 {TINYATTN_QUERY_ROWS(Tokens), 2, SourceTokens}),
                "a workspace has more bytes than this target can address");

  float scratch[TINYATTN_ATTENTION_SCRATCH(Tokens, SourceTokens)];  // scores
};

// softmax(query . key^T / sqrt(d_k) + mask) . value, as tinyattn::scaled_dot_product_attention.
template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
void scaled_dot_product_attention(
    const Query& query, const Key& key, const Value& value, const Mask& mask, Out& out,
    AttentionWorkspace<detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows>&
        workspace) noexcept {
  using LayoutQuery = tinyattn::detail::LayoutOf<Query>;
  using LayoutValue = tinyattn::detail::LayoutOf<Value>;
  if constexpr (tinyattn::detail::check_attention<Query, Key, Value, Mask, Out>() &&
                detail::check_whole<Query, Key, Value, Out>()) {
    const tinyattn_mask masked = detail::mask_of(mask);
    for (std::size_t element = 0; element < LayoutQuery::batch; ++element)
      detail::always(tinyattn_attention(LayoutQuery::rows, LayoutValue::rows, LayoutQuery::cols,
                                        LayoutValue::cols, detail::matrix_of(query, element),
                                        detail::matrix_of(key, element),
                                        detail::matrix_of(value, element), &masked,
                                        detail::matrix_of(out, element), workspace.scratch));
  }
}

template <class TensorM>
Diagnosed scaled_dot_product_attention(const TensorM&, ...) noexcept {
  static_assert(no_such_call<TensorM>,
                "compiled::scaled_dot_product_attention takes (query, key, value, mask, out, "
                "workspace): out is neither const nor a temporary, and workspace is an "
                "AttentionWorkspace<tokens, source tokens>");
  return {};
}

}}}  // namespace tinyattn::compiled::TINYATTN_PORT_NAMESPACE

TINYATTN_END
