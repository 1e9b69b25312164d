// SPDX-License-Identifier: MIT
//
// The compiled library, libtinyattn: the same kernels with shapes that are known at run time, one copy in flash
// for firmware with many of them. The bits are those of the headers. Compile src/compiled.cpp with your program.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>

namespace tinyattn::compiled {

// out = a . b for row-major a [rows, inner], b [inner, cols] and out [rows, cols], which may not overlap them.
void matmul(std::size_t rows, std::size_t inner, std::size_t cols, const float* a, const float* b, float* out) noexcept;

// Row-wise softmax of scale * m; m and out [rows, cols], the same or apart.
void softmax(std::size_t rows, std::size_t cols, const float* m, float scale, float* out) noexcept;

struct AttentionShape {
  std::size_t tokens;
  std::size_t source_tokens;
  std::size_t key_dim;
  std::size_t value_dim;
  bool causal;  // query i sees keys 0 .. i
};

// Floats of scratch that attention over `source_tokens` keys takes.
std::size_t scratch_size(std::size_t source_tokens) noexcept;

// out = softmax(scale * query . key^T) . value, scale usually 1 / sqrt(key_dim)
//
//   query    [tokens, key_dim]
//   key      [source_tokens, key_dim]
//   value    [source_tokens, value_dim]
//   out      [tokens, value_dim]          may not overlap the inputs
//   scratch  [scratch_size(source_tokens)]
void scaled_dot_product_attention(const AttentionShape& shape, float scale, const float* query, const float* key, const float* value,
                                  float* out, float* scratch) noexcept;

}  // namespace tinyattn::compiled
