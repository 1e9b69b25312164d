// SPDX-License-Identifier: MIT
//
// What an attention layer is built from, and what a call of it may return.
#pragma once

#include "tinyattn/dropout.hpp"

#include <cstddef>

namespace tinyattn {

// The shape of an attention layer. d_out is the width of all heads together; a training pass drops
// attention weights at the rate `dropout`, and outputs at the rate `residual_dropout`.
struct AttentionConfig {
  std::size_t d_in;            // features of a token
  std::size_t d_out;           // of all heads together
  std::size_t context_length;  // the most tokens of an input
  std::size_t num_heads = 1;
  bool causal = true;     // query i sees keys 0 .. i, in cross-attention too
  bool qkv_bias = false;  // of query, key and value
  bool out_proj = true;   // a projection of the heads' context
  bool out_bias = true;   // of that projection
  DropoutRate dropout = 0.0;
  DropoutRate residual_dropout = 0.0;
};

// What a call with a token count returns, since that count is known only when the program runs.
enum class [[nodiscard]] Status{ok, too_many_tokens};

}  // namespace tinyattn
