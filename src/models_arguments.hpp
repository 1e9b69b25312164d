// SPDX-License-Identifier: MIT
//
// Checks of a decoder and its call that do not depend on the type of its weights.
#pragma once

#include "encoder_arguments.hpp"
#include "models_operations.hpp"
#include "scratch.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/kernel/window.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

// A maximum that is larger than any array of a decoder in practice, and so small that the cache,
// with twice as many floats, or of int8 with five times as many words if heads have one feature,
// and the scratch, with six times as many floats, can be addressed.
constexpr std::size_t most_of_decoder = most_floats / 8;

inline bool is_known(const tinyattn_rotary& rotary) noexcept {
  return number_of(rotary) <= TINYATTN_HALVES;
}

inline bool is_valid(const tinyattn_sampling& sampling) noexcept {
  return sampling.temperature >= 0.0f && sampling.top_p == sampling.top_p;
}

inline std::size_t kv_width(const tinyattn_decoder& d) noexcept {
  return d.d_model / d.num_heads * d.num_kv_heads;
}

[[gnu::noinline]] inline bool have_sense(const tinyattn_decoder& d) noexcept {
  if (d.num_heads == 0 || d.num_kv_heads == 0 || d.num_heads % d.num_kv_heads != 0) return false;
  if (d.d_model == 0 || d.d_model % d.num_heads != 0 || d.vocabulary > 65536) return false;
  if (d.vocabulary == 0 || d.d_hidden == 0 || d.context_length == 0 || d.num_layers == 0)
    return false;
  if (d.window > most_of_decoder / 4) return false;
  const std::size_t tokens = cached_tokens(d);
  const std::size_t widest = larger(larger(d.vocabulary, d.d_hidden),
                                    larger(tokens, tinyattn::library::FloatCache::scores(d)));
  if (!is_matrix<most_of_decoder>(widest, d.d_model)) return false;
  return d.num_layers <= most_of_decoder / (tokens * d.d_model + TINYATTN_LANES);
}

inline bool turns_without_end(const tinyattn_decoder& d) noexcept {
  return d.window != 0 && d.speeds != nullptr;
}

// Returns the number of tokens that a text may have.
inline std::size_t most_tokens(const tinyattn_decoder& d) noexcept {
  const bool rotates = d.rotary != TINYATTN_NO_ROTARY;
  if (d.window == 0 || d.position_embedding != nullptr || (rotates && !turns_without_end(d)))
    return d.context_length;
  return rotates ? kernel::most_positions : SIZE_MAX;
}

// Whether all is valid but the weights.
inline bool has_valid_rest(const tinyattn_decoder& d) noexcept {
  if (!have_sense(d) || !are_valid(d.blocks)) return false;
  if (!is_known(d.activation) || !is_known(d.rotary)) return false;
  const bool rotates = d.rotary != TINYATTN_NO_ROTARY;
  if (rotates && d.d_model / d.num_heads % 2 != 0) return false;
  if (rotates && !turns_without_end(d) && !are_valid(d.cosines, d.sines)) return false;
  return d.final_norm.weight == nullptr || is_valid(d.final_norm);
}

// Calls `decode` if all arguments but the decoder are valid, too.
TINYATTN_ALWAYS_INLINE tinyattn_status decode_checked(const tinyattn_decoder& decoder,
                                                      const DecoderCall& call,
                                                      auto decode) noexcept {
  const std::size_t most = most_tokens(decoder);
  if (call.past > most || call.num_tokens > most - call.past) return TINYATTN_TOO_MANY_TOKENS;
  if (call.num_tokens == 0) return TINYATTN_OK;
  if (!are_valid(call.tokens) || !are_valid(call.cache, call.logits, call.scratch))
    return TINYATTN_BAD_ARGUMENT;
  if (!kernel::are_known(call.tokens, call.num_tokens, decoder.vocabulary))
    return TINYATTN_UNKNOWN_TOKEN;
  decode(decoder, call);
  return TINYATTN_OK;
}

}  // namespace tinyattn::compiled
