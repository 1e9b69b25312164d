// SPDX-License-Identifier: MIT
//
// The configuration of an attention layer.
#pragma once

#include "tinyattn/dropout.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn {

// Rotary positions (Su et al., "RoFormer", 2021): which two features of a head are a pair that
// rotates. A checkpoint needs the pairs that it was trained with.
enum class Rotary : unsigned char {
  none,         // no rotary positions
  interleaved,  // (0, 1), (2, 3), ...: RoFormer, and Llama's own code
  halves,       // (0, d / 2), (1, d / 2 + 1), ...: Hugging Face, GPT-NeoX
};

// The shape of an attention layer. A training pass drops attention weights at the rate `dropout`,
// and outputs at the rate `residual_dropout`.
struct AttentionConfig {
  std::size_t d_in;                    // features of a token
  std::size_t d_out;                   // features of all heads together
  std::size_t context_length;          // maximum number of tokens of an input
  std::size_t num_heads = 1;           // must divide d_out
  bool causal = true;                  // query i attends to keys 0 .. i, in cross-attention too
  bool qkv_bias = false;               // whether query, key and value have biases
  bool out_proj = true;                // whether the context is projected to the output
  bool out_bias = true;                // whether that projection has a bias
  DropoutRate dropout = 0.0;           // rate for attention weights, in a training pass
  DropoutRate residual_dropout = 0.0;  // rate for outputs, in a training pass
  std::size_t num_kv_heads = 0;        // 0 means num_heads. Query head h uses key head
                                       // h / (num_heads / num_kv_heads)
  Rotary rotary = Rotary::none;        // how queries and keys rotate by their positions
  std::uint32_t rotary_base = 10000;   // pair i rotates by p / base^(2 i / head_dim) at position p
  Weights weights = Weights::f32;      // of all projections
  Weights cache = Weights::f32;        // keys and values, in a cache and in calls without one;
                                       // int8: of magnitudes below 114,240
  std::size_t window = 0;              // 0: a token attends to all tokens before it. Else to
                                       // itself and the window - 1 before it; causal only
  std::size_t head_dim = 0;            // 0 means d_out / num_heads. Else out_proj maps the
                                       // num_heads * head_dim features of all heads to d_out
  std::size_t rotary_dim = 0;          // 0 means head_dim. Else only so many features of a head
                                       // rotate, the first ones
  bool qk_norm = false;                // an RmsNorm of each head of queries and keys, before they
                                       // rotate
  std::size_t d_key = 0;               // features of key inputs; 0 means d_in
  std::size_t d_value = 0;             // features of value inputs; 0 means d_in
  std::size_t bias_kv = 0;             // learned keys and values, to which each token attends
                                       // besides those of tokens, whatever the mask
};

}  // namespace tinyattn
