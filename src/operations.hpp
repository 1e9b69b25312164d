// SPDX-License-Identifier: MIT
//
// What the library computes, as a table: where it contains several ports, one of them is chosen
// when the program runs. Plain data, since units for several instruction sets share it.
#pragma once

#include "tinyattn/tinyattn.h"

#include <cstddef>

namespace tinyattn::compiled {

struct ProductCall {
  std::size_t rows, inner, cols;
  const float *a, *b;
  float* out;
};

// Of attention, and of a layer.
struct AttentionCall {
  std::size_t tokens, source_tokens;
  const float *query, *key, *value;
  const tinyattn_mask* mask;  // or nullptr
  float *out, *scratch;
};

struct ModelOperations;  // models_operations.hpp

struct Operations {
  const char* port;
  unsigned needs;  // of the processor: features.hpp
  void (*matmul)(const ProductCall&) noexcept;
  void (*matmul_transposed)(const ProductCall&) noexcept;
  void (*softmax)(std::size_t rows, std::size_t cols, float scale, const float* m,
                  float* out) noexcept;
  void (*attention)(std::size_t key_dim, std::size_t value_dim, const AttentionCall&) noexcept;
  void (*forward)(const tinyattn_layer&, const AttentionCall&) noexcept;  // without a mask
  void (*masked_forward)(const tinyattn_layer&, const AttentionCall&) noexcept;
  const ModelOperations* models = nullptr;  // where a library holds several ports
};

// Those of the best port that this processor can run.
const Operations& chosen_operations() noexcept;

}  // namespace tinyattn::compiled
