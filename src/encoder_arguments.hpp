// SPDX-License-Identifier: MIT
//
// Checks of blocks, and of an encoder and its call, that do not depend on the type of its weights.
#pragma once

#include "arguments.hpp"
#include "encoder_operations.hpp"
#include "tinyattn/kernel/activation.hpp"

#include <cstddef>

namespace tinyattn::compiled {

inline bool is_known(const tinyattn_activation& activation) noexcept {
  return number_of(activation) < kernel::num_activations;
}

TINYATTN_ALWAYS_INLINE bool is_valid(const tinyattn_norm& norm) noexcept {
  return norm.weight != nullptr && norm.epsilon >= 0.0f;
}

// Whether blocks have all weights, and of floats.
inline bool is_valid(const tinyattn_block& block) noexcept {
  return is_valid(block.attention_norm) && is_valid(block.feed_forward_norm) &&
         are_valid(block.query.weight, block.key.weight, block.value.weight, block.up.weight,
                   block.down.weight) &&
         block.out_proj.codes == nullptr && block.gate.codes == nullptr;
}
inline bool are_valid_blocks(const auto& model) noexcept {
  for (const tinyattn_block* block = model.blocks; block != model.blocks + model.num_layers;
       ++block)
    if (!is_valid(*block)) return false;
  return true;
}

inline std::size_t kv_width(const tinyattn_encoder& e) noexcept { return e.d_model / group_of(e); }

// Whether the sizes of an encoder are valid, and its scratch can be counted.
inline bool have_sense(const tinyattn_encoder& e) noexcept {
  const std::size_t heads = e.num_heads;
  if (heads == 0 || (e.num_kv_heads != 0 && heads % e.num_kv_heads != 0)) return false;
  if (e.d_model == 0 || e.d_model % heads != 0 || e.context_length == 0 || e.num_layers == 0)
    return false;
  return e.d_hidden <= most_floats / 128 && is_matrix(larger(e.d_hidden, e.d_model), e.d_model) &&
         e.d_hidden != 0 && has_scratch(e.d_model, e.context_length, e.context_length);
}

// Whether all is valid but the weights.
inline bool has_valid_rest(const tinyattn_encoder& e) noexcept {
  return have_sense(e) && are_valid(e.blocks) && is_known(e.activation) &&
         is_valid_rotation(e, e.d_model / e.num_heads) &&
         (e.final_norm.weight == nullptr || is_valid(e.final_norm));
}

// Calls `encode` if all arguments but the encoder are valid, too.
TINYATTN_ALWAYS_INLINE tinyattn_status encode_checked(const tinyattn_encoder& encoder,
                                                      const EncoderCall& call,
                                                      auto encode) noexcept {
  if (call.num_tokens > encoder.context_length) return TINYATTN_TOO_MANY_TOKENS;
  if (call.num_tokens == 0) return TINYATTN_OK;
  if (!are_valid(call.x, call.out, call.scratch)) return TINYATTN_BAD_ARGUMENT;
  encode(encoder, call);
  return TINYATTN_OK;
}

}  // namespace tinyattn::compiled
