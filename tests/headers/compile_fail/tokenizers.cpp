// SPDX-License-Identifier: MIT
//
// Impossible tokenizers, and a status that is not read.
#include "tinyattn/tokenizer.hpp"

using namespace tinyattn;

// expect: vocabulary must not be zero
Tokenizer<TokenizerConfig{.kind = TokenizerKind::characters, .vocabulary = 0, .text_size = 1, .longest = 1, .num_pieces = 1}> no_tokens;
// expect: vocabulary must not exceed 65,536, which a Token counts
Tokenizer<TokenizerConfig{.kind = TokenizerKind::characters, .vocabulary = 65537, .text_size = 1, .longest = 1, .num_pieces = 1}> too_many;
// expect: vocabulary must not exceed 65,535 if tokens are merged
Tokenizer<TokenizerConfig{.kind = TokenizerKind::bytes, .vocabulary = 65536, .text_size = 1, .longest = 1, .num_pieces = 1}>
    too_many_merged;
// expect: nodiscard
void unread_encode(const Tokenizer<TokenizerConfig{
                       .kind = TokenizerKind::characters, .vocabulary = 1, .text_size = 1, .longest = 1, .num_pieces = 1}>& tokenizer,
                   std::span<Token> tokens, std::size_t& count) {
  tokenizer.encode("a", tokens, count);
}
