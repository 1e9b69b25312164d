// SPDX-License-Identifier: MIT
//
// Text from a decoder of any kind: the loop of generate.hpp.
#pragma once

#include "arguments.hpp"
#include "dispatch.hpp"
#include "tinyattn/generate.hpp"
#include "tinyattn/kernel/sampling.hpp"
#include "tinyattn/random.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tinyattn::compiled {

// Draws a token, of valid arguments.
TINYATTN_ALWAYS_INLINE Token draw(const tinyattn_sampling& sampling, std::size_t count,
                                  float* logits, tinyattn_philox& generator) noexcept {
  if (sampling.temperature == 0.0f)
    return static_cast<Token>(kernel::index_of_largest(logits, count));
  Philox4x32 philox(generator.seed, generator.stream++);
  return on_port<&Operations::sample>(sampling, count, logits, uniform(philox, 0.0f, 1.0f));
}

// Adds tokens to the cache, and computes the logits of the next one, if all arguments but the
// decoder, which is, are valid.
TINYATTN_ALWAYS_INLINE tinyattn_status decode_checked(const tinyattn_decoder& decoder,
                                                      const DecoderCall& call) noexcept {
  const std::size_t most = most_tokens(decoder);
  if (call.past > most || call.num_tokens > most - call.past) return TINYATTN_TOO_MANY_TOKENS;
  if (call.num_tokens == 0) return TINYATTN_OK;
  if (!are_valid(call.tokens) || !are_valid(call.cache, call.logits, call.scratch) ||
      !is_aligned(call.cache))
    return TINYATTN_BAD_ARGUMENT;
  if (!kernel::are_known(call.tokens, call.num_tokens, decoder.vocabulary))
    return TINYATTN_UNKNOWN_TOKEN;
  decoder.kind->decode(decoder, call);
  return TINYATTN_OK;
}

// The arguments of tinyattn_generate but the text.
struct GenerationCall {
  const tinyattn_generation* options;
  TokenView prompt;
  tinyattn_put put;
  void* context;
  tinyattn_generation_result* result;
};

// Whether all is valid but the decoder.
inline bool is_valid(const tinyattn_text& text, const GenerationCall& call) noexcept {
  if (!are_valid(text.tokenizer, call.options, call.result) || call.put == nullptr) return false;
  const bool has_prompt = call.prompt.size() == 0 || call.prompt.data() != nullptr;
  return has_prompt && text.tokenizer->piece != nullptr &&
         text.tokenizer->vocabulary == text.decoder->vocabulary &&
         is_valid(call.options->sampling) && text.cache != nullptr && is_aligned(text.cache) &&
         are_valid(text.logits, text.scratch);
}

// If nothing ends, the number of tokens steps back before it becomes too large.
inline std::size_t counted(const tinyattn_decoder& d, std::size_t tokens) noexcept {
  return most_tokens(d) == SIZE_MAX ? kernel::counted_in_turns(tokens, d.window) : tokens;
}

// Adds tokens to the cache.
inline Status read(tinyattn_text& text, TokenView tokens) noexcept {
  const tinyattn_status status = decode_checked(
      *text.decoder,
      {text.past, tokens.data(), tokens.size(), text.cache, text.logits, text.scratch});
  if (status != TINYATTN_OK)
    return status == TINYATTN_UNKNOWN_TOKEN ? Status::unknown_token : Status::too_many_tokens;
  text.past = counted(*text.decoder, text.past + tokens.size());
  return Status::ok;
}

// Continues a text, of valid arguments.
inline void generate(tinyattn_text& text, const GenerationCall& call) noexcept {
  const tinyattn_generation& options = *call.options;
  const std::optional<Token> stop = options.has_stop ? std::optional(options.stop) : std::nullopt;
  const GenerationResult result = tinyattn::detail::continue_text(
      call.prompt, {{}, options.max_tokens, stop},
      [&](TokenView tokens) { return read(text, tokens); },
      [&] { return text.past < most_tokens(*text.decoder); },
      [&] { return draw(options.sampling, text.decoder->vocabulary, text.logits, text.generator); },
      [&](Token token) {
        std::size_t size = 0;
        const char* const bytes = text.tokenizer->piece(token, &size);
        return std::string_view(bytes, size);
      },
      [&](std::string_view bytes) { return call.put(call.context, bytes.data(), bytes.size()); });
  *call.result = {static_cast<tinyattn_generation_end>(result.end), result.num_tokens};
}

}  // namespace tinyattn::compiled
