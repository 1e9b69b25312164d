// SPDX-License-Identifier: MIT
//
// Text from a decoder: the loop of generate.hpp, for weights and caches of any type.
#pragma once

#include "models_arguments.hpp"
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
                                  float* logits, tinyattn_philox& generator,
                                  Sample sample) noexcept {
  if (sampling.temperature == 0.0f)
    return static_cast<Token>(kernel::index_of_largest(logits, count));
  Philox4x32 philox(generator.seed, generator.stream++);
  return sample(sampling, count, logits, uniform(philox, 0.0f, 1.0f));
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
inline bool is_valid(const tinyattn_text& text, const void* cache,
                     const GenerationCall& call) noexcept {
  if (!are_valid(text.tokenizer, call.options, call.result) || call.put == nullptr) return false;
  const bool has_prompt = call.prompt.size() == 0 || call.prompt.data() != nullptr;
  return has_prompt && text.tokenizer->piece != nullptr &&
         text.tokenizer->vocabulary == text.decoder->vocabulary &&
         is_valid(call.options->sampling) && cache != nullptr &&
         are_valid(text.logits, text.scratch);
}

// If nothing ends, the number of tokens steps back before it becomes too large.
inline std::size_t counted(const tinyattn_decoder& d, std::size_t tokens) noexcept {
  return most_tokens(d) == SIZE_MAX ? kernel::counted_in_turns(tokens, d.window) : tokens;
}

// Adds tokens to the cache.
inline Status read(tinyattn_text& text, void* cache, TokenView tokens, Decode decode) noexcept {
  const DecoderCall call{text.past, tokens.data(), tokens.size(), cache, text.logits, text.scratch};
  const tinyattn_status status = decode_checked(*text.decoder, call, decode);
  if (status != TINYATTN_OK)
    return status == TINYATTN_UNKNOWN_TOKEN ? Status::unknown_token : Status::too_many_tokens;
  text.past = counted(*text.decoder, text.past + tokens.size());
  return Status::ok;
}

// Writes a text if all arguments but the decoder, which is, are valid.
[[gnu::noinline]] inline tinyattn_status generate_checked(tinyattn_text& text, void* cache,
                                                          const GenerationCall& call, Decode decode,
                                                          Sample sample) noexcept {
  if (!is_valid(text, cache, call)) return TINYATTN_BAD_ARGUMENT;
  const tinyattn_generation& options = *call.options;
  const std::optional<Token> stop = options.has_stop ? std::optional(options.stop) : std::nullopt;
  const GenerationResult result = tinyattn::detail::continue_text(
      call.prompt, {{}, options.max_tokens, stop},
      [&](TokenView tokens) { return read(text, cache, tokens, decode); },
      [&] { return text.past < most_tokens(*text.decoder); },
      [&] {
        return draw(options.sampling, text.decoder->vocabulary, text.logits, text.generator,
                    sample);
      },
      [&](Token token) {
        std::size_t size = 0;
        const char* const bytes = text.tokenizer->piece(token, &size);
        return std::string_view(bytes, size);
      },
      [&](std::string_view bytes) { return call.put(call.context, bytes.data(), bytes.size()); });
  *call.result = {static_cast<tinyattn_generation_end>(result.end), result.num_tokens};
  return TINYATTN_OK;
}

}  // namespace tinyattn::compiled
