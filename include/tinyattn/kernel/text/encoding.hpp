// SPDX-License-Identifier: MIT
//
// From text to tokens: what the kinds of tokenizers do besides merging.
#pragma once

#include "tinyattn/kernel/text/merging.hpp"
#include "tinyattn/kernel/text/sentence.hpp"
#include "tinyattn/kernel/text/words.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Tokens that are written to an array as long as it has room.
struct Output16 {
  std::uint16_t* tokens;
  std::size_t room;
  std::size_t count;
  bool has_room = true;

  constexpr void put(std::uint16_t token) noexcept {
    if (count < room)
      tokens[count++] = token;
    else
      has_room = false;
  }
};

// How a text is encoded, apart from the pieces.
struct Encoding {
  Range symbols;              // those of the sorted pieces that are found before anything is merged
  std::uint16_t unknown;      // the token of a symbol without a piece, or no_token
  std::uint16_t first_byte;   // the first of 256 tokens for its bytes, or no_token
  bool has_prefix, removes;   // a space before the text; removes spaces as SentencePiece does
  bool is_divided_at_spaces;  // no piece has a space after another character
  bool has_whole_replacement;  // of bytes: the three of U+FFFD are one symbol
  bool is_divided_at_digits;   // of bytes: words end before and after each digit
};

// Returns the longest of the symbols that the text begins with, or no_token, and moves the reader
// after it.
template <class Tokenizer, class Reader>
constexpr std::uint16_t take_symbol(const Pieces<Tokenizer>& pieces, Range range,
                                    Reader& reader) noexcept {
  std::uint16_t found = no_token;
  std::size_t depth = 0;
  for (Reader ahead = reader; !range.empty() && !ahead.at_end();) {
    const Bytes symbol = ahead.symbol();
    range = pieces.narrowed(range, depth, symbol);
    depth += symbol.size;
    ahead.advance();
    if (pieces.ends_at(range, depth)) {
      found = pieces.token(range.begin);
      reader = ahead;
    }
  }
  return found;
}

// Writes the tokens of a symbol that has no piece: its bytes, or the unknown token, which stands
// for several symbols in a row.
template <Encoding encoding>
constexpr void put_unknown(Bytes bytes, bool again, Output16& out) noexcept {
  if (encoding.first_byte == no_token) {
    if (!again) out.put(encoding.unknown);
    return;
  }
  if (encoding.unknown != no_token && is_replacement(bytes)) {
    out.put(encoding.unknown);  // which put_replacements replaces
    return;
  }
  for (std::size_t i = 0; i < bytes.size; ++i)
    out.put(static_cast<std::uint16_t>(encoding.first_byte + byte_at(bytes.data + i)));
}

// Replaces each unknown token from `first` on by the three of U+FFFD. It stood for at least one
// byte of the text, so that there was room for all symbols while they were merged.
template <Encoding encoding>
constexpr void put_replacements(std::size_t first, Output16& out) noexcept {
  std::size_t from = out.count;
  for (std::size_t i = first; i < from; ++i)
    if (out.tokens[i] == encoding.unknown) out.count += 2;
  out.has_room = out.has_room && out.count <= out.room;
  if (!out.has_room) return;
  for (std::size_t to = out.count; to != from;) {
    const std::uint16_t token = out.tokens[--from];
    if (token != encoding.unknown) {
      out.tokens[--to] = token;
      continue;
    }
    for (std::size_t i = replacement.size; i-- > 0;)
      out.tokens[--to] =
          static_cast<std::uint16_t>(encoding.first_byte + byte_at(replacement.data + i));
  }
}

// Reads symbols until one has no piece, or is the first of a word. Writes their tokens.
template <Encoding encoding, class Tokenizer, class Reader>
constexpr void put_merged(const Pieces<Tokenizer>& pieces, Reader& reader, Output16& out) noexcept {
  Merging<Tokenizer> merging{pieces, out.tokens + out.count, out.room - out.count};
  for (bool was_space = true; !reader.at_end(); reader.advance()) {
    const bool is_space = reader.is_space();
    if (encoding.is_divided_at_spaces && is_space && !was_space) break;
    was_space = is_space;
    if constexpr (!encoding.symbols.empty()) {
      Reader next = reader;
      if (take_symbol(pieces, encoding.symbols, next) != no_token) break;
    }
    if (!merging.take(reader)) break;
  }
  out.has_room = out.has_room && merging.has_room;
  if (out.has_room) out.count += merging.finish(count_characters);
}

// Encodes a text of SentencePiece or llama2.c.
template <Encoding encoding, class Tokenizer, class Reader>
constexpr void encode_text(const Pieces<Tokenizer>& pieces, Reader reader, Output16& out) noexcept {
  const std::size_t first = out.count;
  bool was_unknown = false;
  while (!reader.at_end() && out.has_room) {
    std::uint16_t symbol = no_token;
    if constexpr (!encoding.symbols.empty()) symbol = take_symbol(pieces, encoding.symbols, reader);
    const std::size_t before = out.count;
    if (symbol != no_token)
      out.put(symbol);
    else
      put_merged<encoding>(pieces, reader, out);
    if (out.count != before) {
      was_unknown = false;
    } else if (out.has_room) {
      put_unknown<encoding>(reader.bytes(), was_unknown, out);
      was_unknown = true;
      reader.advance();
    }
  }
  if constexpr (encoding.first_byte != no_token && encoding.unknown != no_token)
    put_replacements<encoding>(first, out);
}

constexpr std::size_t count_bytes(Bytes bytes) noexcept { return bytes.size; }

// The same, with U+FFFD as one.
constexpr std::size_t count_with_replacements(Bytes bytes) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes.size; ++count)
    i += begins_with(bytes.data + i, bytes.data + bytes.size, replacement) ? replacement.size : 1;
  return count;
}

// Encodes a part of a text word by word.
template <Encoding encoding, class Tokenizer>
constexpr void encode_words(const Pieces<Tokenizer>& pieces, const char* text, const char* end,
                            bool has_prefix, Output16& out) noexcept {
  has_prefix = has_prefix && text != end && *text != ' ';
  const char* part = encoding.is_divided_at_digits ? text : end;
  while (text != end && out.has_room) {
    if (encoding.is_divided_at_digits && text == part) part = end_at_digit(text, end);
    const char* const end_of_this = end_of_word(text, part, has_prefix);
    Merging<Tokenizer> merging{pieces, out.tokens + out.count, out.room - out.count};
    for (Word<encoding.has_whole_replacement> word(text, end_of_this, has_prefix);
         !word.at_end() && merging.has_room; word.advance())
      merging.take(word);
    out.has_room = merging.has_room;
    if (out.has_room)
      out.count +=
          merging.finish(encoding.has_whole_replacement ? count_with_replacements : count_bytes);
    text = end_of_this;
    has_prefix = false;
  }
}

// Encodes a text of GPT-2: words, between the symbols that are found first.
template <Encoding encoding, class Tokenizer>
constexpr void encode_bytes(const Pieces<Tokenizer>& pieces, const char* text, const char* end,
                            Output16& out) noexcept {
  const char* begin = text;
  if constexpr (encoding.symbols.empty()) {
    encode_words<encoding>(pieces, text, end, encoding.has_prefix, out);
    return;
  }
  while (text != end) {
    Plain reader{text, end};
    const std::uint16_t symbol = take_symbol(pieces, encoding.symbols, reader);
    if (symbol == no_token) {
      ++text;
      continue;
    }
    encode_words<encoding>(pieces, begin, text, encoding.has_prefix, out);
    if (out.has_room) out.put(symbol);
    begin = text = reader.text;
  }
  encode_words<encoding>(pieces, begin, end, encoding.has_prefix, out);
}

// Encodes characters one by one. Returns false if one has no token.
template <class Tokenizer>
constexpr bool encode_characters(const Pieces<Tokenizer>& pieces, const char* text, const char* end,
                                 Output16& out) noexcept {
  while (text != end) {
    const Utf8 read = decode(text, end);
    const Range range = pieces.narrowed(pieces.all, 0, {text, read.size});
    if (!read.is_valid || !pieces.ends_at(range, read.size)) return false;
    out.put(pieces.token(range.begin));
    text += read.size;
  }
  return true;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
