// SPDX-License-Identifier: MIT
//
// Settings for sampling a paragraph, and where it ends.
#pragma once

#include <cstddef>
#include <string_view>

#include "model.hpp"
#include "tinyattn/generate.hpp"

namespace writer {

inline constexpr tinyattn::Generation generation = {.sampling = {.temperature = 0.7f, .top_p = 0.9f}};
inline constexpr std::size_t enough = 300;  // characters, after which a paragraph ends with its sentence
inline constexpr std::size_t longest_paragraph = 400;

// A paragraph that is being written. In the training text a paragraph is one line.
struct Paragraph {
  bool is_for_ever = false;    // whether other paragraphs follow endlessly
  bool is_complete = false;    // whether it ends with a line or a sentence
  std::size_t characters = 0;  // of all paragraphs

  constexpr bool goes_on() const { return is_for_ever || (!is_complete && characters < longest_paragraph); }

  // Adds a token's text. Returns the part of it that belongs to the paragraph.
  constexpr std::string_view add(std::string_view text) {
    std::size_t size = 0;
    for (; size < text.size() && goes_on(); ++size) is_complete = ends_with(text[size], ++characters);
    return {text.data(), size};
  }

 private:
  static constexpr bool ends_with(char character, std::size_t characters) {
    return character == '\n' || (characters >= enough && (character == '.' || character == '!' || character == '?'));
  }
};

}  // namespace writer
