// SPDX-License-Identifier: MIT
//
// The words of a text as GPT-2 divides it, which are encoded one by one:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
#pragma once

#include "tinyattn/kernel/text/character_classes.hpp"
#include "tinyattn/kernel/text/sentence.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

constexpr CharacterClass class_at(const char* text, const char* end) noexcept {
  return class_of(decode(text, end).code);
}

// Returns the end of the characters of one class, from `text` on.
constexpr const char* end_of_class(const char* text, const char* end,
                                   CharacterClass which) noexcept {
  while (text != end && class_at(text, end) == which) text += decode(text, end).size;
  return text;
}

// Returns the size of 's, 't, 're, 've, 'm, 'll or 'd at the start of a text, or 0.
constexpr std::size_t size_of_contraction(const char* text, const char* end) noexcept {
  constexpr Bytes contractions[] = {{"'s", 2}, {"'t", 2},  {"'re", 3}, {"'ve", 3},
                                    {"'m", 2}, {"'ll", 3}, {"'d", 2}};
  for (const Bytes& contraction : contractions)
    if (begins_with(text, end, contraction)) return contraction.size;
  return 0;
}

// Returns the end of white space, but for its last character if a word follows and `before`, or
// there are several.
constexpr const char* end_of_space(const char* text, const char* end, bool before) noexcept {
  const char* last = text;
  const char* next = text;
  while (next != end && class_at(next, end) == CharacterClass::space) {
    last = next;
    next += decode(next, end).size;
  }
  return next == end || (last == text && !before) ? next : last;
}

// Returns the end of the digit at `text`, or of what is before the next one.
constexpr const char* end_at_digit(const char* text, const char* end) noexcept {
  const bool is_digit = class_at(text, end) == CharacterClass::number;
  do text += decode(text, end).size;
  while (!is_digit && text != end && class_at(text, end) != CharacterClass::number);
  return text;
}

// Returns the end of the word at `text`, which is before `end`. With a prefix, the word begins with
// a space that is not in the text.
constexpr const char* end_of_word(const char* text, const char* end, bool has_prefix) noexcept {
  if (!has_prefix)
    if (const std::size_t size = size_of_contraction(text, end)) return text + size;
  const char* const first = text + (!has_prefix && *text == ' ');
  if (first != end)
    if (const CharacterClass which = class_at(first, end); which != CharacterClass::space)
      return end_of_class(first, end, which);
  return end_of_space(text, end, has_prefix);
}

// A text byte by byte.
struct Plain {
  const char* text;
  const char* end;

  constexpr bool at_end() const noexcept { return text == end; }
  constexpr Bytes symbol() const noexcept { return {text, 1}; }
  constexpr void advance() noexcept { ++text; }
};

// The bytes of a word, with U+FFFD instead of what is no UTF-8; its three bytes may be one symbol.
template <bool whole_replacement>
class Word {
 public:
  constexpr Word(const char* text, const char* end, bool has_prefix) noexcept
      : text_(text), end_(end) {
    if (has_prefix)
      set(one_space, 0);
    else
      read();
  }

  constexpr bool at_end() const noexcept { return left_.size == 0; }
  constexpr Bytes symbol() const noexcept { return {left_.data, size_}; }
  constexpr void advance() noexcept {
    left_.data += size_;
    left_.size -= size_;
    if (left_.size == 0) {
      text_ += taken_;
      read();
    }
  }

 private:
  constexpr void set(Bytes left, std::size_t taken) noexcept {
    left_ = left;
    taken_ = taken;
  }
  constexpr void read() noexcept {
    if (text_ == end_) return;
    const Utf8 read = decode(text_, end_);
    set(read.is_valid ? Bytes{text_, read.size} : replacement, read.size);
    size_ = whole_replacement && read.code == replacement_character ? replacement.size : 1;
  }

  const char* text_;  // the character that is read
  const char* end_;
  Bytes left_{};  // those of its bytes that follow
  std::size_t taken_ = 0, size_ = 1;
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
