// SPDX-License-Identifier: MIT
//
// The functions of tinyattn.h: check the arguments, then call the operations of a port, directly if
// there is only one.
#ifndef TINYATTN_ATTENTION_UNIT
#define TINYATTN_ATTENTION_UNIT

#include "arguments.hpp"
#include "dispatch.hpp"
#include "scratch.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"

#include <cstddef>

using namespace tinyattn::compiled;
namespace library = tinyattn::library;
namespace kernel = tinyattn::kernel;

namespace {

template <auto operation>
tinyattn_status multiply(const ProductCall& call) noexcept {
  if (!is_valid(call)) return TINYATTN_BAD_ARGUMENT;
  on_port<operation>(call);
  return TINYATTN_OK;
}

template <auto operation>
tinyattn_status reduce(std::size_t tokens, std::size_t features, const float* x,
                       float* out) noexcept {
  if (!is_matrix(tokens, features) || !are_valid(x, out)) return TINYATTN_BAD_ARGUMENT;
  on_port<operation>(tokens, features, x, out);
  return TINYATTN_OK;
}

template <auto operation>
tinyattn_status forward(const tinyattn_layer* layer, const AttentionCall& call) noexcept {
  if (!is_valid(layer)) return TINYATTN_BAD_ARGUMENT;
  if (call.tokens == 0) return TINYATTN_OK;
  if (!is_valid(call, layer->d_in, layer->d_out, layer->d_out) || !may_replace(*layer, call))
    return TINYATTN_BAD_ARGUMENT;
  on_port<operation>(*layer, call);
  return TINYATTN_OK;
}

}  // namespace

const tinyattn_layer_kind tinyattn_layer_floats = {false, is_valid_layer<library::Floats>,
                                                   on_port<&Operations::project_floats>};
const tinyattn_linear_kind tinyattn_linear_floats = {is_valid_linear<library::Floats>,
                                                     on_port<&Operations::project_floats>};
const tinyattn_convolution_kind tinyattn_convolution_floats = {
    is_valid_convolution<library::Floats>, on_port<&Operations::convolve_floats>};

const char* tinyattn_port() { return name_of_port(); }

int32_t tinyattn_version() { return TINYATTN_VERSION; }

size_t tinyattn_attention_scratch(size_t tokens, size_t source_tokens) {
  if (!has_scratch(1, tokens, source_tokens)) return 0;
  return TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens);
}

size_t tinyattn_layer_scratch(const tinyattn_layer* layer, size_t tokens, size_t source_tokens) {
  if (!has_kind(layer) || !has_valid_sizes(*layer) ||
      !has_scratch(layer->d_out, tokens, source_tokens))
    return 0;
  const size_t floats = library::floats_of(*layer, tokens, source_tokens);
  const size_t inputs = larger(layer->d_in, layer->d_out);
  if (!layer->kind->has_integers) return floats;
  return inputs > kernel::most_inputs ? 0 : floats + TINYATTN_INTEGERS(tokens, inputs);
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
  on_port<&Operations::softmax>(rows, cols, scale, m, out);
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
  on_port<&Operations::standardize>(rows, features, x, mean, inverse_deviation, out);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_linear_forward(const tinyattn_linear_kind* kind,
                                        const tinyattn_linear* linear, size_t rows, size_t in,
                                        size_t out_features, const float* x, float* out,
                                        float* scratch) {
  if (kind == nullptr || linear == nullptr || !is_matrix(in, out_features) ||
      !kind->is_valid(*linear, in, out_features, scratch) || !is_matrix(rows, in) ||
      !is_matrix(rows, out_features) || !are_valid(x, out) || out == x)
    return TINYATTN_BAD_ARGUMENT;
  kind->project(*linear, {rows, in, out_features, x, out}, scratch, rows);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_conv1d(const tinyattn_convolution* convolution, size_t tokens,
                                const float* x, float* out, float* scratch) {
  if (!has_kind(convolution) || tokens_after(*convolution, tokens) == 0 ||
      !convolution->kind->is_valid(*convolution, scratch) || !are_valid(x, out) || out == x)
    return TINYATTN_BAD_ARGUMENT;
  convolution->kind->convolve(*convolution, {tokens, x, out, scratch});
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
  on_port<&Operations::attention>(key_dim, value_dim, call);
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
