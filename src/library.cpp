// SPDX-License-Identifier: MIT
//
// The functions of tinyattn.h: check the arguments, then call the operations of a port, directly if
// there is only one.
#include "tinyattn/tinyattn.h"

#include "arguments.hpp"
#include "operations.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"

#ifndef TINYATTN_PORTS
#include "port.hpp"
#endif

#include <cstddef>
#include <cstdint>

using namespace tinyattn::compiled;

namespace {

#ifdef TINYATTN_PORTS
inline const Operations& operations() noexcept { return chosen_operations(); }
#else
constexpr const Operations& operations() noexcept { return tinyattn::library::native_operations; }
#endif

// Whether the sums and products that count the scratch do not wrap.
bool has_scratch(std::size_t width, std::size_t tokens, std::size_t source_tokens) noexcept {
  constexpr std::size_t most = most_floats / 4;
  if (source_tokens > most || tokens > most || width > most) return false;
  constexpr std::size_t query_rows = TINYATTN_QUERY_ROWS(most);
  const std::size_t rows = TINYATTN_PADDED(source_tokens) + TINYATTN_BLOCK_ROWS(most);
  return rows <= most / (width > query_rows ? width : query_rows);
}

bool has_elements(const tinyattn_mask& mask) noexcept {
  if (mask.kind == TINYATTN_ADDITIVE_MASK) return mask.addends != nullptr;
  if (mask.kind == TINYATTN_BLOCK_MASK || mask.kind == TINYATTN_KEEP_MASK)
    return mask.flags != nullptr;
  // Other kinds need no elements. Compares as unsigned: a caller in C may pass a number that is no
  // kind.
  return static_cast<unsigned>(mask.kind) <= TINYATTN_CAUSAL_BOTTOM_RIGHT;
}

bool is_valid(const ProductCall& call) noexcept {
  return is_matrix(call.rows, call.inner) && is_matrix(call.inner, call.cols) &&
         is_matrix(call.rows, call.cols) && are_valid(call.a, call.b, call.out);
}

bool is_valid(const tinyattn_layer& layer) noexcept {
  return layer.num_heads != 0 && layer.d_out % layer.num_heads == 0 &&
         is_matrix(layer.d_in, layer.d_out) && is_matrix(layer.d_out, layer.d_out) &&
         are_valid(layer.query.weight, layer.key.weight, layer.value.weight);
}

// Whether a call is valid whose queries and keys have `in` columns, and values and output `out`,
// with scratch for a layer `width` wide.
bool is_valid(const AttentionCall& call, std::size_t in, std::size_t out,
              std::size_t width) noexcept {
  const std::size_t tokens = call.tokens, source_tokens = call.source_tokens;
  return is_matrix(tokens, in) && is_matrix(source_tokens, in) && is_matrix(tokens, out) &&
         is_matrix(source_tokens, out) && is_matrix(tokens, source_tokens) &&
         has_scratch(width, tokens, source_tokens) &&
         are_valid(call.query, call.key, call.value, call.out, call.scratch) &&
         (call.mask == nullptr || has_elements(*call.mask));
}

template <auto operation>
tinyattn_status multiply(const ProductCall& call) noexcept {
  if (!is_valid(call)) return TINYATTN_BAD_ARGUMENT;
  (operations().*operation)(call);
  return TINYATTN_OK;
}

// Whether `out` may be where it is. If it is the input of the queries, rows of output must not be
// longer than those of input, or they would overwrite rows that are still to be read.
bool may_replace(const tinyattn_layer& layer, const AttentionCall& call) noexcept {
  return call.out != call.query || layer.d_out <= layer.d_in;
}

template <auto operation>
tinyattn_status forward(const tinyattn_layer* layer, const AttentionCall& call) noexcept {
  if (layer == nullptr || !is_valid(*layer)) return TINYATTN_BAD_ARGUMENT;
  if (call.tokens == 0) return TINYATTN_OK;
  if (!is_valid(call, layer->d_in, layer->d_out, layer->d_out) || !may_replace(*layer, call))
    return TINYATTN_BAD_ARGUMENT;
  (operations().*operation)(*layer, call);
  return TINYATTN_OK;
}

}  // namespace

const char* tinyattn_port() { return operations().port; }

size_t tinyattn_attention_scratch(size_t tokens, size_t source_tokens) {
  if (!has_scratch(1, tokens, source_tokens)) return 0;
  return TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens);
}

size_t tinyattn_layer_scratch(size_t d_out, size_t tokens, size_t source_tokens) {
  if (!has_scratch(d_out, tokens, source_tokens)) return 0;
  return TINYATTN_LAYER_SCRATCH(d_out, tokens, source_tokens);
}

float tinyattn_inverse_sqrt(size_t head_dim) {
  return tinyattn::port::detail::inverse_sqrt_in_integers(head_dim);
}

tinyattn_status tinyattn_matmul(size_t rows, size_t inner, size_t cols, const float* a,
                                const float* b, float* out) {
  return multiply<&Operations::matmul>({rows, inner, cols, a, b, out});
}

tinyattn_status tinyattn_matmul_transposed(size_t rows, size_t inner, size_t cols, const float* a,
                                           const float* b, float* out) {
  return multiply<&Operations::matmul_transposed>({rows, inner, cols, a, b, out});
}

tinyattn_status tinyattn_softmax(size_t rows, size_t cols, float scale, const float* m,
                                 float* out) {
  if (!is_matrix(rows, cols) || !are_valid(m, out)) return TINYATTN_BAD_ARGUMENT;
  if (!(scale >= 0.0f)) return TINYATTN_BAD_ARGUMENT;
  operations().softmax(rows, cols, scale, m, out);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_attention(size_t tokens, size_t source_tokens, size_t key_dim,
                                   size_t value_dim, const float* query, const float* key,
                                   const float* value, const tinyattn_mask* mask, float* out,
                                   float* scratch) {
  const AttentionCall call{tokens, source_tokens, query, key, value, mask, out, scratch};
  if (!is_valid(call, key_dim, value_dim, 1)) return TINYATTN_BAD_ARGUMENT;
  operations().attention(key_dim, value_dim, call);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_forward(const tinyattn_layer* layer, size_t tokens, const float* x,
                                 float* out, float* scratch) {
  return forward<&Operations::forward>(layer, {tokens, tokens, x, x, x, nullptr, out, scratch});
}

tinyattn_status tinyattn_cross_forward(const tinyattn_layer* layer, size_t tokens,
                                       size_t source_tokens, const float* query_input,
                                       const float* key_input, const float* value_input,
                                       const tinyattn_mask* mask, float* out, float* scratch) {
  return forward<&Operations::masked_forward>(
      layer, {tokens, source_tokens, query_input, key_input, value_input, mask, out, scratch});
}
