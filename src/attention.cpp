// SPDX-License-Identifier: MIT
//
// The functions of tinyattn.h for floats: check the arguments, then call the operations of a port,
// directly if there is only one.
#ifndef TINYATTN_ATTENTION_UNIT
#define TINYATTN_ATTENTION_UNIT

#include "tinyattn/tinyattn.h"

#include "arguments.hpp"
#include "dispatch.hpp"
#include "operations.hpp"
#include "scratch.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"

#ifndef TINYATTN_PORTS
#include "port.hpp"
#endif

#include <cstddef>
#include <cstdint>

using namespace tinyattn::compiled;
namespace library = tinyattn::library;

namespace {

using tinyattn::compiled::is_valid;

inline const Operations& operations() noexcept { return TINYATTN_OPERATIONS(native_operations); }

bool is_valid(const ProductCall& call) noexcept {
  return is_matrix(call.rows, call.inner) && is_matrix(call.inner, call.cols) &&
         is_matrix(call.rows, call.cols) && are_valid(call.a, call.b, call.out) &&
         call.out != call.a && call.out != call.b;
}

bool is_valid(const tinyattn_layer& layer) noexcept {
  return has_valid_sizes(layer) &&
         are_valid(layer.query.weight, layer.key.weight, layer.value.weight) &&
         (layer.out_proj.weight != nullptr || layer.out_proj.codes == nullptr);
}

template <auto operation>
tinyattn_status multiply(const ProductCall& call) noexcept {
  if (!is_valid(call)) return TINYATTN_BAD_ARGUMENT;
  (operations().*operation)(call);
  return TINYATTN_OK;
}

template <auto operation>
tinyattn_status reduce(std::size_t tokens, std::size_t features, const float* x,
                       float* out) noexcept {
  if (!is_matrix(tokens, features) || !are_valid(x, out)) return TINYATTN_BAD_ARGUMENT;
  (operations().*operation)(tokens, features, x, out);
  return TINYATTN_OK;
}

template <auto operation>
tinyattn_status forward(const tinyattn_layer* layer, const AttentionCall& call) noexcept {
  if (layer == nullptr || !is_valid(*layer)) return TINYATTN_BAD_ARGUMENT;
  return forward_checked(*layer, call, operations().*operation);
}

}  // namespace

const char* tinyattn_port() { return operations().port; }

size_t tinyattn_attention_scratch(size_t tokens, size_t source_tokens) {
  if (!has_scratch(1, tokens, source_tokens)) return 0;
  return TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens);
}

size_t tinyattn_layer_scratch(size_t d_out, size_t tokens, size_t source_tokens) {
  if (!has_scratch(d_out, tokens, source_tokens)) return 0;
  return library::layer_layout<library::Floats>(d_out, d_out, d_out, tokens, source_tokens).size;
}

size_t tinyattn_conv1d_tokens(const tinyattn_convolution* convolution, size_t tokens) {
  return convolution == nullptr ? 0 : tokens_after(*convolution, tokens);
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

tinyattn_status tinyattn_mean(size_t tokens, size_t features, const float* x, float* out) {
  return reduce<&Operations::mean>(tokens, features, x, out);
}

tinyattn_status tinyattn_largest(size_t tokens, size_t features, const float* x, float* out) {
  return reduce<&Operations::largest>(tokens, features, x, out);
}

tinyattn_status tinyattn_standardize(size_t rows, size_t features, const float* x,
                                     const float* mean, const float* inverse_deviation,
                                     float* out) {
  if (!is_matrix(rows, features) || !are_valid(x, mean, inverse_deviation, out))
    return TINYATTN_BAD_ARGUMENT;
  operations().standardize(rows, features, x, mean, inverse_deviation, out);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_conv1d(const tinyattn_convolution* convolution, size_t tokens,
                                const float* x, float* out) {
  if (convolution == nullptr || tokens_after(*convolution, tokens) == 0 ||
      !are_valid(convolution->linear.weight, x, out) || out == x)
    return TINYATTN_BAD_ARGUMENT;
  operations().convolve(*convolution, {tokens, x, out, nullptr});
  return TINYATTN_OK;
}

tinyattn_status tinyattn_attention(size_t tokens, size_t source_tokens, size_t key_dim,
                                   size_t value_dim, const float* query, const float* key,
                                   const float* value, const tinyattn_mask* mask, float* out,
                                   float* scratch) {
  const AttentionCall call{tokens, source_tokens, query, key, value, mask, out, scratch};
  if (key_dim == 0 || value_dim == 0 || !is_valid(call, key_dim, value_dim, 1) || out == query ||
      out == key || out == value)
    return TINYATTN_BAD_ARGUMENT;
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

#endif
