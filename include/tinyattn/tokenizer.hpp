// SPDX-License-Identifier: MIT
//
// Tokenizers: from text to the tokens of a language model, and back.
#pragma once

#include "tinyattn/detail/optional.hpp"
#include "tinyattn/kernel/text/encoding.hpp"
#include "tinyattn/kernel/text/normalizer.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/token.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace tinyattn {

// What a tokenizer does with a text.
enum class TokenizerKind : unsigned char {
  characters,     // a token for each character
  sentencepiece,  // byte pair encoding of characters, as SentencePiece
  llama2c,        // the same, as llama2.c
  bytes           // byte pair encoding of the bytes of words, as GPT-2
};

// The sizes of a tokenizer's tables, and what it does with a text. ports/pytorch/export.py writes
// both.
struct TokenizerConfig {
  TokenizerKind kind;                // what it does
  std::size_t vocabulary;            // number of different tokens, at most 65,536
  std::size_t text_size;             // bytes of all pieces; some lie in others
  std::size_t longest;               // bytes of the longest piece
  std::size_t num_pieces;            // pieces that a text is made of
  std::size_t num_symbols = 0;       // pieces that are found before anything is merged
  std::size_t first_merge = 0;       // the lowest token that two others are merged into
  std::size_t num_merges = 0;        // how many tokens there are from this one up to the highest
  bool has_ranks = false;            // whether the order of merges is not that of tokens
  std::size_t num_hidden = 0;        // how many symbols are no text
  std::size_t unknown = 65535;       // SentencePiece's token for what has no piece; 65535: none
  std::size_t first_byte = 65535;    // the first of 256 tokens, one for each byte; 65535: none
  bool dummy_prefix = false;         // puts a space before the text
  bool remove_extra_spaces = false;  // SentencePiece's remove_extra_whitespaces
  bool divided_at_spaces = false;    // no piece has a space after another character
  bool whole_replacement = false;    // of bytes: nothing is merged with a part of U+FFFD
  bool divided_at_digits = false;    // of bytes: each digit is a text of its own
  bool prefix_before_words = false;  // dummy_prefix is not put before a text that begins with one
  std::size_t num_rules = 0;         // of SentencePiece's normalizer
  std::size_t rule_text_size = 0;    // bytes of what they replace, and by what
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The number of bits of `value`.
constexpr unsigned bits_for(std::size_t value) noexcept {
  unsigned bits = 0;
  for (; value != 0; value >>= 1) ++bits;
  return bits;
}

template <TokenizerConfig config>
consteval bool check_tokenizer_config() noexcept {
  constexpr bool any = config.vocabulary > 0, fits = config.vocabulary <= 65536,
                 merges = config.kind != TokenizerKind::characters;
  static_assert(any, "vocabulary must not be zero");
  static_assert(fits, "vocabulary must not exceed 65,536, which a Token counts");
  static_assert(
      !merges || config.vocabulary != 65536,
      "vocabulary must not exceed 65,535 if tokens are merged: one Token stands for none");
  return any && fits;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Turns text into tokens, and tokens into text. A constant in flash, which the exporter writes. Its
// tables are members only so that it can be initialized.
template <TokenizerConfig config>
struct Tokenizer {
  static_assert(detail::check_tokenizer_config<config>());

  // The number of tokens, config.vocabulary.
  static constexpr std::size_t vocabulary = config.vocabulary;
  // The sizes of the tables.
  static constexpr TokenizerConfig sizes = config;
  // The lowest bits of a place, which hold the length of a piece.
  static constexpr unsigned length_bits = detail::bits_for(config.longest);
  // The length of a piece, and its position in the text.
  using Place = std::conditional_t<length_bits + detail::bits_for(config.text_size) <= 16,
                                   std::uint16_t, std::uint32_t>;
  // The position of a rule in their text.
  using RulePlace =
      std::conditional_t<config.rule_text_size <= 65535, std::uint16_t, std::uint32_t>;

  char text[config.text_size + 1];  // the bytes of the pieces
  // Of each token the position and the length of its piece; of the tokens of bytes none.
  detail::Table<Place, vocabulary> places;
  // The tokens of pieces in the order of their bytes; then those of symbols.
  detail::Table<Token, config.num_pieces + config.num_symbols> sorted;
  // The left one of the two tokens that each one is merged from; one that is not merged is itself.
  [[no_unique_address]] detail::Table<Token, config.num_merges> lefts;
  // The order of merges.
  [[no_unique_address]] detail::Table<Token, config.has_ranks ? config.num_merges : 0> ranks;
  // The tokens of symbols that are no text, such as the end of a text.
  [[no_unique_address]] detail::Table<Token, config.num_hidden> hidden;
  // Of each rule of the normalizer the bytes that it replaces, and those by which it does.
  [[no_unique_address]] detail::Table<char, config.num_rules == 0 ? 0 : config.rule_text_size + 1>
      rule_text{};
  // Where each rule begins there, and where the last ends.
  [[no_unique_address]] detail::Table<RulePlace, config.num_rules == 0 ? 0 : config.num_rules + 1>
      rules{};
  // How many bytes each rule replaces.
  [[no_unique_address]] detail::Table<std::uint8_t, config.num_rules> rule_sizes{};

  // Appends the tokens of `input` to tokens[0 .. count), and moves `count` on. If there is no room
  // for one token for each byte of the text and one more, returns too_many_tokens; count stays as
  // it was, and tokens from `count` on are undefined. Likewise if the tokens themselves do not fit:
  // a byte that is no UTF-8 may become three, those of U+FFFD; and SentencePiece's normalizer makes
  // up to six characters of a byte. A tokenizer of characters returns unknown_token for a character
  // that it does not have.
  [[nodiscard]] constexpr Status encode(std::string_view input, std::span<Token> tokens,
                                        std::size_t& count) const noexcept {
    if (tokens.size() < count || tokens.size() - count <= input.size())
      return Status::too_many_tokens;
    kernel::Output16 out{tokens.data(), tokens.size(), count};
    if (!put(input.data(), input.data() + input.size(), out)) return Status::unknown_token;
    if (!out.has_room) return Status::too_many_tokens;
    count = out.count;
    return Status::ok;
  }

  // Returns the bytes of a token, which lie in flash: a part of a text, not always whole
  // characters. Returns none for a token that is not below the vocabulary, and for one that is no
  // text, such as the end of a text.
  constexpr std::string_view piece(Token token) const noexcept {
    if (token >= vocabulary) return {};
    for (std::size_t i = 0; i < config.num_hidden; ++i)
      if (hidden[i] == token) return {};
    const kernel::Bytes bytes = pieces().piece(token);
    return {bytes.data, bytes.size};
  }

 private:
  constexpr kernel::Pieces<Tokenizer> pieces() const noexcept { return {*this}; }

  static constexpr kernel::Encoding encoding{
      {config.num_pieces, config.num_pieces + config.num_symbols},
      static_cast<Token>(config.unknown),
      static_cast<Token>(config.first_byte),
      config.dummy_prefix,
      config.remove_extra_spaces,
      config.divided_at_spaces,
      config.whole_replacement,
      config.divided_at_digits};

  // Returns whether all characters are known.
  constexpr bool put(const char* begin, const char* end, kernel::Output16& out) const noexcept {
    if constexpr (config.kind == TokenizerKind::characters)
      return kernel::encode_characters(pieces(), begin, end, out);
    else if constexpr (config.kind == TokenizerKind::bytes)
      kernel::encode_bytes<encoding>(pieces(), begin, end, out);
    else if constexpr (config.kind == TokenizerKind::llama2c)
      kernel::encode_text<encoding>(pieces(), kernel::Llama2cText(begin, end), out);
    else if constexpr (config.num_rules != 0)
      kernel::encode_text<encoding>(pieces(),
                                    kernel::NormalizedSentence<Tokenizer>(
                                        *this, begin, end, encoding.has_prefix, encoding.removes),
                                    out);
    else
      kernel::encode_text<encoding>(pieces(),
                                    kernel::Sentence(begin, end, encoding.has_prefix,
                                                     encoding.removes, config.prefix_before_words),
                                    out);
    return true;
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
