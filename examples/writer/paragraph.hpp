// SPDX-License-Identifier: MIT
//
// Settings for sampling a paragraph, and where it ends.
#pragma once

#include <cstddef>

#include "model.hpp"

namespace writer {

inline constexpr tinyattn::Sampling sampling = {.temperature = 0.7f, .top_p = 0.9f};
inline constexpr std::size_t enough = 300;  // characters, after which the text ends with a sentence
inline constexpr std::size_t longest_paragraph = 400;

// Returns whether a paragraph ends after this character: in the training text it is one line.
constexpr bool ends_paragraph(char character, std::size_t characters) {
  return character == '\n' || (characters >= enough && (character == '.' || character == '!' || character == '?'));
}

}  // namespace writer
