// SPDX-License-Identifier: MIT
//
// The operations of whole models, as a table of functions. It is separate from the table of
// attention, so that a firmware without models contains none of them.
#pragma once

#include "operations.hpp"
#include "tinyattn/tinyattn_models.h"

#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

// The number of tokens whose keys and values a decoder keeps.
constexpr std::size_t cached_tokens(const tinyattn_decoder& d) noexcept {
  return d.window == 0 ? d.context_length : d.window;
}

inline std::size_t group_of(const tinyattn_decoder& d) noexcept {
  return d.num_heads / d.num_kv_heads;
}

struct DecoderCall {
  std::size_t past;
  const std::uint16_t* tokens;
  std::size_t num_tokens;
  void* cache;  // of floats, or of int8 in words
  float *logits, *scratch;
};

using Sample = std::uint16_t (*)(const tinyattn_sampling&, std::size_t count, float* logits,
                                 float fraction) noexcept;
using Decode = void (*)(const tinyattn_decoder&, const DecoderCall&) noexcept;

struct ModelOperations {
  void (*activate)(tinyattn_activation, std::size_t count, const float* x, float* out) noexcept;
  void (*normalize)(const tinyattn_norm&, std::size_t rows, std::size_t dim, const float* x,
                    float* out) noexcept;
  Sample sample;
  Decode decode;
};

}  // namespace tinyattn::compiled
