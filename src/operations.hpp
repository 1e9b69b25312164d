// SPDX-License-Identifier: MIT
//
// What the library computes, as a table: where it contains several ports, one of them is chosen when the program runs. Plain data, since
// units for several instruction sets share it.
#pragma once

#include "tinyattn/tinyattn.h"

#include <cstddef>

namespace tinyattn::compiled {

struct ProductCall {
  std::size_t rows, inner, cols;
  const float* a;
  const float* b;
  float* out;
};

struct SoftmaxCall {
  std::size_t rows, cols;
  float scale;
  const float* m;
  float* out;
};

struct AttentionCall {
  std::size_t tokens, source_tokens, key_dim, value_dim;
  float scale;  // of the scores
  const float* query;
  const float* key;
  const float* value;
  const tinyattn_mask* mask;
  float* out;
  float* scratch;
};

struct LayerCall {
  const tinyattn_layer* layer;
  std::size_t tokens, source_tokens;
  float scale;  // of the scores
  const float* query_input;
  const float* key_input;
  const float* value_input;
  const tinyattn_mask* mask;
  float* out;
  float* scratch;
};

struct Operations {
  const char* port;
  unsigned needs;  // of the processor: features.hpp
  void (*matmul)(const ProductCall&) noexcept;
  void (*matmul_transposed)(const ProductCall&) noexcept;
  void (*softmax)(const SoftmaxCall&) noexcept;
  void (*attention)(const AttentionCall&) noexcept;
  void (*forward)(const LayerCall&) noexcept;  // without regard to its mask
  void (*masked_forward)(const LayerCall&) noexcept;
};

// Those of the best port that this processor can run.
const Operations& chosen_operations() noexcept;

}  // namespace tinyattn::compiled
