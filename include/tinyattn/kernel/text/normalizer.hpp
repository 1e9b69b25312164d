// SPDX-License-Identifier: MIT
//
// SentencePiece's normalizer: rules that replace texts by others. Of those that a text begins with,
// the longest replaces it.
#pragma once

#include "tinyattn/kernel/text/sentence.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// What the rules of a Tokenizer replace, as Pieces takes texts. In rule_text each of these is
// followed by its replacement.
template <class Tokenizer>
struct Replaced {
  struct Sizes {
    std::size_t num_pieces;
  };
  struct InOrder {
    constexpr std::size_t operator[](std::size_t i) const noexcept { return i; }
  };
  struct Places {
    const Tokenizer& tables;
    constexpr std::size_t operator[](std::size_t i) const noexcept {
      return std::size_t{tables.rules[i]} << length_bits | tables.rule_sizes[i];
    }
  };

  static constexpr Sizes sizes{Tokenizer::sizes.num_rules};
  static constexpr unsigned length_bits = 8;
  const char* text;
  Places places;
  InOrder sorted{};
};

// A rule of several characters is written once, with its first character normalized: it replaces
// all texts whose first character becomes this one.
template <class Tokenizer>
class Normalizer {
 public:
  explicit constexpr Normalizer(const Tokenizer& tables) noexcept : tables_(&tables) {}

  // Returns what `text`, which is before `end`, begins with, normalized. Moves `text` after it.
  [[gnu::noinline]] constexpr Bytes take(const char*& text, const char* end) const noexcept {
    const Replaced<Tokenizer> replaced{tables_->rule_text.elements, {*tables_}};
    const Pieces<Replaced<Tokenizer>> rules{replaced};
    const Utf8 read = decode(text, end);
    if (!read.is_valid) {
      ++text;
      return replacement;
    }
    Bytes first{text, read.size};
    text += read.size;
    Range range = rules.narrowed(rules.all, 0, first);
    Bytes taken = rules.ends_at(range, first.size) ? replacement_of(range.begin) : first;
    if (count_characters(taken) == 1) {
      first = taken;
      range = rules.narrowed(rules.all, 0, first);
    }
    const char* ahead = text;
    for (std::size_t depth = first.size; !range.empty() && ahead != end;) {
      range = rules.narrowed(range, depth++, byte_at(ahead++));
      if (!rules.ends_at(range, depth)) continue;
      taken = replacement_of(range.begin);
      text = ahead;
    }
    return taken;
  }
  // Returns the bytes of the longest symbol that the text begins with, or 0.
  [[gnu::noinline]] constexpr std::size_t size_of_symbol(const char* text,
                                                         const char* end) const noexcept {
    const Pieces<Tokenizer> pieces{*tables_};
    Range range{pieces.sizes.num_pieces, pieces.sizes.num_pieces + pieces.sizes.num_symbols};
    std::size_t found = 0;
    for (std::size_t size = 0; !range.empty() && text + size != end;) {
      range = pieces.narrowed(range, size, byte_at(text + size));
      if (pieces.ends_at(range, ++size)) found = size;
    }
    return found;
  }

 private:
  constexpr Bytes replacement_of(std::size_t rule) const noexcept {
    const std::size_t begin = tables_->rules[rule] + std::size_t{tables_->rule_sizes[rule]};
    return {tables_->rule_text.elements + begin, tables_->rules[rule + 1] - begin};
  }

  const Tokenizer* tables_;
};

// The symbols of a text that is normalized as it is read: as those of Sentence. Spaces are removed
// at the start and at the end, and after a replacement that ends with one.
template <class Tokenizer>
class NormalizedSentence {
 public:
  constexpr NormalizedSentence(const Tokenizer& tables, const char* text, const char* end,
                               bool has_prefix, bool removes) noexcept
      : normalizer_(tables),
        text_(text),
        end_(end),
        stop_(end),
        removes_(removes),
        is_after_space_(removes) {
    load();
    if (removes) trim();
    is_in_prefix_ = has_prefix && text != end && !(removes && at_end());
  }

  constexpr bool at_end() const noexcept {
    return text_ == stop_ && part_.size == stopped_size_ && !is_in_prefix_;
  }
  [[gnu::noinline]] constexpr bool is_space() const noexcept {
    return is_in_prefix_ || *part_.data == ' ' ||
           begins_with(part_.data, part_.data + part_.size, escaped_space);
  }
  constexpr Bytes symbol() const noexcept { return is_space() ? one_space : character(); }
  // Returns the bytes that are encoded one by one if the symbol has no piece.
  constexpr Bytes bytes() const noexcept { return is_space() ? escaped_space : character(); }
  [[gnu::noinline]] constexpr void advance() noexcept {
    if (is_in_prefix_) {
      is_in_prefix_ = false;
      return;
    }
    drop(character().size);
    load();
  }

 private:
  constexpr Bytes character() const noexcept {
    return {part_.data, size_of_character(byte_at(part_.data))};
  }
  constexpr void drop(std::size_t size) noexcept { part_ = {part_.data + size, part_.size - size}; }
  // Returns the next part of the text, normalized. One of a tokenizer's symbols stays as it is.
  constexpr Bytes take_part() noexcept {
    if constexpr (Tokenizer::sizes.num_symbols != 0) {
      const Bytes symbol{text_, normalizer_.size_of_symbol(text_, end_)};
      text_ += symbol.size;
      if (symbol.size != 0) return symbol;
    }
    return normalizer_.take(text_, end_);
  }
  // Normalizes the text up to the next symbol.
  constexpr void load() noexcept {
    while (part_.size == 0 && text_ != end_) {
      part_ = take_part();
      while (is_after_space_ && part_.size != 0 && *part_.data == ' ') drop(1);
      if (part_.size != 0) is_after_space_ = removes_ && part_.data[part_.size - 1] == ' ';
    }
  }
  // Stops after the last symbol that is no space.
  constexpr void trim() noexcept {
    NormalizedSentence last = *this;
    for (NormalizedSentence ahead = *this; !ahead.at_end();) {
      const bool is_space = ahead.is_space();
      ahead.advance();
      if (!is_space) last = ahead;
    }
    stop_ = last.text_;
    stopped_size_ = last.part_.size;
  }

  Normalizer<Tokenizer> normalizer_;
  const char* text_;  // what follows the part
  const char* end_;
  Bytes part_{nullptr, 0};  // normalized
  const char* stop_;        // text_ and the size of the part at the end
  std::size_t stopped_size_ = 0;
  bool removes_, is_after_space_, is_in_prefix_ = false;
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
