// SPDX-License-Identifier: MIT
//
// The operations of an encoder, as a table of functions. It is separate from the other tables, so
// that a firmware contains what it calls.
#pragma once

#include "operations.hpp"
#include "tinyattn/tinyattn_encoder.h"

#include <cstddef>

namespace tinyattn::compiled {

inline std::size_t group_of(const tinyattn_encoder& e) noexcept {
  return group_of(e.num_heads, e.num_kv_heads);
}

struct EncoderCall {
  std::size_t num_tokens;
  const float* x;
  float *out, *scratch;
};

using Encode = void (*)(const tinyattn_encoder&, const EncoderCall&) noexcept;

struct EncoderOperations {
  Encode encode;
};

}  // namespace tinyattn::compiled
