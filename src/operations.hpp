// SPDX-License-Identifier: MIT
//
// The operations of the library, as a table of functions: if the library contains several ports, it
// chooses one of their tables at run time. The tables are plain data, since translation units for
// different instruction sets share their types.
#pragma once

#include "tinyattn/tinyattn.h"

#include <cstddef>

namespace tinyattn::compiled {

// The number of query heads that share a key head. Members that count key heads may be 0.
inline std::size_t group_of(std::size_t num_heads, std::size_t num_kv_heads) noexcept {
  return num_kv_heads == 0 ? 1 : num_heads / num_kv_heads;
}

struct ProductCall {
  std::size_t rows, inner, cols;
  const float *a, *b;
  float* out;
};

// A call of attention, or of a layer.
struct AttentionCall {
  std::size_t tokens, source_tokens;
  const float *query, *key, *value;
  const tinyattn_mask* mask;  // nullptr for none
  float *out, *scratch;
};

// A call of a convolution. There is scratch for int8 weights only.
struct ConvolutionCall {
  std::size_t tokens;
  const float* x;
  float *out, *scratch;
};

struct Operations {
  const char* port;
  unsigned needs;  // features of the processor, as bits: features.hpp
  void (*matmul)(const ProductCall&) noexcept;
  void (*matmul_transposed)(const ProductCall&) noexcept;
  void (*softmax)(std::size_t rows, std::size_t cols, float scale, const float* m,
                  float* out) noexcept;
  void (*attention)(std::size_t key_dim, std::size_t value_dim, const AttentionCall&) noexcept;
  void (*forward)(const tinyattn_layer&, const AttentionCall&) noexcept;  // without a mask
  void (*masked_forward)(const tinyattn_layer&, const AttentionCall&) noexcept;
  void (*convolve)(const tinyattn_convolution&, const ConvolutionCall&) noexcept;
  void (*mean)(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept;
  void (*largest)(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept;
  void (*standardize)(std::size_t rows, std::size_t features, const float* x, const float* mean,
                      const float* inverse_deviation, float* out) noexcept;
};

}  // namespace tinyattn::compiled
