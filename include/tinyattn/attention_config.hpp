// SPDX-License-Identifier: MIT
//
// What an attention layer is built from.
#pragma once

#include "tinyattn/dropout.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn {

// Rotary positions (Su et al., "RoFormer", 2021): which two features of a head rotate together. A
// checkpoint needs the one that it was trained with.
enum class Rotary : unsigned char {
  none,         // positions are not in attention
  interleaved,  // (0, 1), (2, 3), ...: RoFormer, and Llama's own code
  halves,       // (0, d / 2), (1, d / 2 + 1), ...: Hugging Face, GPT-NeoX
};

// The shape of an attention layer. d_out is the width of all heads together; a training pass drops
// attention weights at the rate `dropout`, and outputs at the rate `residual_dropout`.
struct AttentionConfig {
  std::size_t d_in;                    // features of a token
  std::size_t d_out;                   // of all heads together
  std::size_t context_length;          // the most tokens of an input
  std::size_t num_heads = 1;           // d_out is a multiple of it
  bool causal = true;                  // query i attends to keys 0 .. i, in cross-attention too
  bool qkv_bias = false;               // of query, key and value
  bool out_proj = true;                // a projection of the heads' context
  bool out_bias = true;                // of that projection
  DropoutRate dropout = 0.0;           // of attention weights, in a training pass
  DropoutRate residual_dropout = 0.0;  // of outputs, in a training pass
  std::size_t num_kv_heads = 0;        // 0: num_heads. Query head h reads key head
                                       // h / (num_heads / num_kv_heads)
  Rotary rotary = Rotary::none;        // queries and keys rotate with their positions
  std::uint32_t rotary_base = 10000;   // pair i rotates by p / base^(2 i / head_dim) at position p
};

}  // namespace tinyattn
