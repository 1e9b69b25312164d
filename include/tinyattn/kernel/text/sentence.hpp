// SPDX-License-Identifier: MIT
//
// The symbols of a text as SentencePiece and llama2.c see them. A reader is a place in a text: it
// returns one symbol after the other, and can be copied to look ahead.
#pragma once

#include "tinyattn/kernel/text/pieces.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

constexpr Bytes one_space{" ", 1}, escaped_space{"\xe2\x96\x81", 3}, replacement{"\xef\xbf\xbd", 3};

constexpr bool begins_with(const char* text, const char* end, Bytes bytes) noexcept {
  if (static_cast<std::size_t>(end - text) < bytes.size) return false;
  for (std::size_t i = 0; i < bytes.size; ++i)
    if (text[i] != bytes.data[i]) return false;
  return true;
}

constexpr bool is_replacement(Bytes bytes) noexcept {
  return bytes.size == replacement.size && begins_with(bytes.data, bytes.data + 3, replacement);
}

// SentencePiece without a normalizer: spaces and U+2581 are one symbol, spaces may be removed where
// several follow one another, at the start and at the end; a byte that is no UTF-8 becomes U+FFFD.
class Sentence {
 public:
  constexpr Sentence(const char* text, const char* end, bool has_prefix, bool removes,
                     bool before_words = false) noexcept
      : text_(text), end_(end), removes_(removes) {
    if (removes) trim();
    is_in_prefix_ = has_prefix && text_ != end_ && !(before_words && is_space());
  }

  constexpr bool at_end() const noexcept { return text_ == end_ && !is_in_prefix_; }
  [[gnu::noinline]] constexpr bool is_space() const noexcept {
    return is_in_prefix_ || *text_ == ' ' || begins_with(text_, end_, escaped_space);
  }
  constexpr Bytes symbol() const noexcept { return is_space() ? one_space : character(); }
  // Returns the bytes that are encoded one by one if the symbol has no piece.
  constexpr Bytes bytes() const noexcept { return is_space() ? escaped_space : character(); }
  [[gnu::noinline]] constexpr void advance() noexcept {
    if (is_in_prefix_) {
      is_in_prefix_ = false;
      return;
    }
    const bool removes = removes_ && *text_ == ' ';
    const Utf8 read = decode(text_, end_);
    text_ += read.is_valid ? read.size : 1;
    while (removes && text_ != end_ && *text_ == ' ') ++text_;
  }

 private:
  constexpr Bytes character() const noexcept {
    const Utf8 read = decode(text_, end_);
    return read.is_valid ? Bytes{text_, read.size} : replacement;
  }
  constexpr void trim() noexcept {
    while (text_ != end_ && *text_ == ' ') ++text_;
    while (text_ != end_)
      if (end_[-1] == ' ')
        --end_;
      else if (end_ - text_ >= 3 && begins_with(end_ - 3, end_, escaped_space))
        end_ -= 3;
      else
        break;
  }

  const char* text_;
  const char* end_;
  bool removes_, is_in_prefix_ = false;
};

// llama2.c: a byte, and up to three after it that continue a character. The text begins with a
// space.
class Llama2cText {
 public:
  constexpr Llama2cText(const char* text, const char* end) noexcept
      : text_(text), end_(end), is_in_prefix_(text != end) {}

  constexpr bool at_end() const noexcept { return text_ == end_ && !is_in_prefix_; }
  constexpr bool is_space() const noexcept { return is_in_prefix_ || *text_ == ' '; }
  constexpr Bytes symbol() const noexcept {
    return is_in_prefix_ ? one_space : Bytes{text_, size()};
  }
  constexpr Bytes bytes() const noexcept { return symbol(); }
  constexpr void advance() noexcept {
    if (!is_in_prefix_) text_ += size();
    is_in_prefix_ = false;
  }

 private:
  constexpr std::size_t size() const noexcept {
    std::size_t size = 1;
    while (size < 4 && text_ + size != end_ && is_continuation(text_ + size)) ++size;
    return size;
  }

  const char* text_;
  const char* end_;
  bool is_in_prefix_;
};

// Returns the number of characters.
constexpr std::size_t count_characters(Bytes bytes) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes.size; ++i) count += !is_continuation(bytes.data + i);
  return count;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
