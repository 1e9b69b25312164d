// SPDX-License-Identifier: MIT
//
// The functions of tinyattn.h: arguments are checked, then a port computes. With one port, these are direct calls.
#include "tinyattn/tinyattn.h"

#include "inverse_sqrt.hpp"
#include "operations.hpp"

#ifndef TINYATTN_PORTS
#include "port.hpp"
#endif

#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

namespace {

#ifdef TINYATTN_PORTS
inline const Operations& operations() noexcept { return chosen_operations(); }
#else
constexpr const Operations& operations() noexcept { return library::native_operations; }
#endif

constexpr tinyattn_mask no_mask{TINYATTN_NO_MASK, false, nullptr, nullptr};

// Arrays of a matrix make sense: none of its sizes is 0, and its bytes can be addressed.
bool is_matrix(std::size_t rows, std::size_t cols) noexcept {
  constexpr std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float);
  return rows != 0 && cols != 0 && rows <= most / cols;
}

// Sums and multiples of the sizes in scratch must not wrap either.
bool has_scratch(std::size_t width, std::size_t tokens, std::size_t source_tokens) noexcept {
  constexpr std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float) / 4;
  if (source_tokens > most || tokens > most || width > most) return false;
  const std::size_t rows = TINYATTN_PADDED(source_tokens) + TINYATTN_BLOCK_ROWS;
  return rows <= most / (width > TINYATTN_QUERY_ROWS ? width : TINYATTN_QUERY_ROWS);
}

bool has_elements(const tinyattn_mask& mask) noexcept {
  switch (mask.kind) {
    case TINYATTN_NO_MASK:
    case TINYATTN_CAUSAL:
    case TINYATTN_CAUSAL_BOTTOM_RIGHT:
      return true;
    case TINYATTN_BLOCK_MASK:
    case TINYATTN_KEEP_MASK:
      return mask.flags != nullptr;
    case TINYATTN_ADDITIVE_MASK:
      return mask.addends != nullptr;
  }
  return false;
}

bool makes_sense(const ProductCall& call) noexcept {
  return is_matrix(call.rows, call.inner) && is_matrix(call.inner, call.cols) && is_matrix(call.rows, call.cols) && call.a != nullptr &&
         call.b != nullptr && call.out != nullptr;
}

bool makes_sense(const AttentionCall& call) noexcept {
  return is_matrix(call.tokens, call.key_dim) && is_matrix(call.source_tokens, call.key_dim) &&
         is_matrix(call.source_tokens, call.value_dim) && is_matrix(call.tokens, call.value_dim) &&
         is_matrix(call.tokens, call.source_tokens) && has_scratch(1, call.tokens, call.source_tokens) && call.query != nullptr &&
         call.key != nullptr && call.value != nullptr && call.out != nullptr && call.scratch != nullptr && has_elements(*call.mask);
}

bool makes_sense(const tinyattn_layer& layer) noexcept {
  return layer.num_heads != 0 && layer.d_out % layer.num_heads == 0 && is_matrix(layer.d_in, layer.d_out) &&
         is_matrix(layer.d_out, layer.d_out) && layer.query.weight != nullptr && layer.key.weight != nullptr &&
         layer.value.weight != nullptr;
}

bool makes_sense(const LayerCall& call) noexcept {
  if (call.layer == nullptr || !makes_sense(*call.layer)) return false;
  if (call.tokens == 0) return true;
  return is_matrix(call.tokens, call.layer->d_in) && is_matrix(call.source_tokens, call.layer->d_in) &&
         is_matrix(call.tokens, call.layer->d_out) && is_matrix(call.tokens, call.source_tokens) &&
         has_scratch(call.layer->d_out, call.tokens, call.source_tokens) && call.query_input != nullptr && call.key_input != nullptr &&
         call.value_input != nullptr && call.out != nullptr && call.scratch != nullptr && has_elements(*call.mask);
}

float scale_of(const tinyattn_layer* layer) noexcept {
  return layer == nullptr || layer->num_heads == 0 ? 0.0f : inverse_sqrt_in_integers(layer->d_out / layer->num_heads);
}

}  // namespace

}  // namespace tinyattn::compiled

using namespace tinyattn::compiled;

const char* tinyattn_port() { return operations().port; }

size_t tinyattn_attention_scratch(size_t tokens, size_t source_tokens) {
  return has_scratch(1, tokens, source_tokens) ? TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens) : 0;
}

size_t tinyattn_layer_scratch(size_t d_out, size_t tokens, size_t source_tokens) {
  return has_scratch(d_out, tokens, source_tokens) ? TINYATTN_LAYER_SCRATCH(d_out, tokens, source_tokens) : 0;
}

float tinyattn_inverse_sqrt(size_t head_dim) { return inverse_sqrt_in_integers(head_dim); }

tinyattn_status tinyattn_matmul(size_t rows, size_t inner, size_t cols, const float* a, const float* b, float* out) {
  const ProductCall call{rows, inner, cols, a, b, out};
  if (!makes_sense(call)) return TINYATTN_BAD_ARGUMENT;
  operations().matmul(call);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_matmul_transposed(size_t rows, size_t inner, size_t cols, const float* a, const float* b, float* out) {
  const ProductCall call{rows, inner, cols, a, b, out};
  if (!makes_sense(call)) return TINYATTN_BAD_ARGUMENT;
  operations().matmul_transposed(call);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_softmax(size_t rows, size_t cols, float scale, const float* m, float* out) {
  if (!is_matrix(rows, cols) || m == nullptr || out == nullptr || !(scale >= 0.0f)) return TINYATTN_BAD_ARGUMENT;
  operations().softmax({rows, cols, scale, m, out});
  return TINYATTN_OK;
}

tinyattn_status tinyattn_attention(size_t tokens, size_t source_tokens, size_t key_dim, size_t value_dim, const float* query,
                                   const float* key, const float* value, const tinyattn_mask* mask, float* out, float* scratch) {
  AttentionCall call{tokens, source_tokens, key_dim, value_dim, 0.0f, query, key, value, mask != nullptr ? mask : &no_mask, out, scratch};
  if (!makes_sense(call)) return TINYATTN_BAD_ARGUMENT;
  call.scale = inverse_sqrt_in_integers(key_dim);
  operations().attention(call);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_forward(const tinyattn_layer* layer, size_t tokens, const float* x, float* out, float* scratch) {
  const LayerCall call{layer, tokens, tokens, scale_of(layer), x, x, x, &no_mask, out, scratch};
  if (!makes_sense(call)) return TINYATTN_BAD_ARGUMENT;
  if (tokens != 0) operations().forward(call);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_cross_forward(const tinyattn_layer* layer, size_t tokens, size_t source_tokens, const float* query_input,
                                       const float* key_input, const float* value_input, const tinyattn_mask* mask, float* out,
                                       float* scratch) {
  const tinyattn_mask* const given = mask != nullptr ? mask : &no_mask;
  const LayerCall call{layer, tokens, source_tokens, scale_of(layer), query_input, key_input, value_input, given, out, scratch};
  if (!makes_sense(call)) return TINYATTN_BAD_ARGUMENT;
  if (tokens != 0) operations().masked_forward(call);
  return TINYATTN_OK;
}
