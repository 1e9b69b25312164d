// SPDX-License-Identifier: MIT
//
// Text from a language model: reads a prompt, then draws token after token and puts out their text.
// Not part of tinyattn.hpp, since not every program has text.
#pragma once

#include "tinyattn/detail/character_stream.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/sampling.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/token.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>

TINYATTN_BEGIN

namespace tinyattn {

// How a text is continued, and when it ends.
struct Generation {
  Sampling sampling = {};          // how a token is drawn
  std::size_t max_tokens = 0;      // maximum number of tokens that are drawn; 0: there is none
  std::optional<Token> stop = {};  // the token that ends the text; it is not put out
};

// Why a text ended.
enum class GenerationEnd : unsigned char {
  stop_token,    // Generation::stop was drawn
  max_tokens,    // as many tokens as Generation::max_tokens were drawn
  context_full,  // the cache has no room for the prompt, or for another token
  by_caller,     // `put` returned false
  unknown_token  // a token of the prompt is not below `vocabulary`; nothing was read
};

// What a call of generate did.
struct GenerationResult {
  GenerationEnd end;       // why the text ended
  std::size_t num_tokens;  // how many tokens were drawn, the stop token among them

  friend constexpr bool operator==(const GenerationResult&, const GenerationResult&) = default;
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Reads a prompt and continues it, whatever the model: read(tokens) returns a Status, has_room()
// whether one more token can be read, draw() the next token, and piece(token) its text.
constexpr GenerationResult continue_text(TokenView prompt, const Generation& options,
                                         const auto& read, const auto& has_room, const auto& draw,
                                         const auto& piece, const auto& put) noexcept {
  const Status status = read(prompt);
  if (status == Status::too_many_tokens) return {GenerationEnd::context_full, 0};
  if (status == Status::unknown_token) return {GenerationEnd::unknown_token, 0};
  CharacterStream characters;
  GenerationResult result{GenerationEnd::by_caller, 0};
  for (bool goes_on = true; goes_on;) {
    const bool is_long = options.max_tokens != 0 && result.num_tokens == options.max_tokens;
    if (is_long || !has_room()) {
      result.end = is_long ? GenerationEnd::max_tokens : GenerationEnd::context_full;
      break;
    }
    const Token token = draw();
    const bool stops = token == options.stop;
    ++result.num_tokens;
    if (!stops) goes_on = characters.write(piece(token), put);
    static_cast<void>(read(TokenView(&token, 1)));
    if (stops) {
      result.end = GenerationEnd::stop_token;
      break;
    }
  }
  if (result.end != GenerationEnd::by_caller) characters.flush(put);
  return result;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Reads `prompt`, tokens that follow those of the cache, and continues it. Without a prompt the
// text goes on after the last token of the cache, whose logits `logits` must hold.
//
// Passes the text to put(std::string_view), in whole characters of UTF-8 as they come; a byte that
// is part of none is passed on as it is. `put` returns whether to go on. A token's text is
// tokenizer.piece(token), a std::string_view. Each token that is drawn is read before the call
// ends, so that a conversation goes on with the next prompt, and `logits`, [vocabulary], are those
// after the last one. A cache without a window may become full: nothing is read again.
template <LanguageModelConfig config, class Tokenizer, tensor_like Logits,
          random_generator Generator>
constexpr GenerationResult generate(const LanguageModel<config>& model, const Tokenizer& tokenizer,
                                    TokenView prompt, const Generation& options,
                                    typename LanguageModel<config>::Cache& cache, Logits& logits,
                                    typename LanguageModel<config>::Cache::Workspace& workspace,
                                    Generator& generator, const auto& put) noexcept {
  return detail::continue_text(
      prompt, options,
      [&](TokenView tokens)
          TINYATTN_INLINE_LAMBDA { return model.forward(tokens, cache, logits, workspace); },
      [&] { return cache.has_room(1); },
      [&] { return sample(logits, options.sampling, generator); },
      [&](Token token) { return tokenizer.piece(token); }, put);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
