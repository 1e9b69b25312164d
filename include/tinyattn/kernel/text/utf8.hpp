// SPDX-License-Identifier: MIT
//
// Characters of UTF-8.
#pragma once

#include "tinyattn/port/found.hpp"

#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

constexpr std::uint32_t replacement_character = 0xfffd;

// The bytes that are read as one character. `code` is the replacement character, and is_valid is
// false, if they are no UTF-8: then size is that of the longest part that could begin a character,
// or 1. The Unicode Standard, "U+FFFD Substitution of Maximal Subparts".
struct Utf8 {
  std::uint32_t code;
  std::uint8_t size;
  bool is_valid;
};

constexpr std::uint8_t byte_at(const char* text) noexcept {
  return static_cast<std::uint8_t>(*text);
}

constexpr bool is_continuation(const char* text) noexcept { return (byte_at(text) & 0xc0) == 0x80; }

// Returns how many bytes a character has that begins with this one, or 0 for one that begins none.
constexpr std::uint8_t size_of_character(std::uint8_t lead) noexcept {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

// Reads the character at `text`, which is before `end`.
[[gnu::noinline]] constexpr Utf8 decode(const char* text, const char* end) noexcept {
  const std::uint8_t lead = byte_at(text), size = size_of_character(lead);
  if (size == 1) return {lead, 1, true};
  if (size == 0) return {replacement_character, 1, false};
  // The second byte excludes codes that are too long, surrogates, and those after U+10FFFF.
  std::uint8_t lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  std::uint8_t highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  std::uint32_t code = lead & (0x7fu >> size);
  for (std::uint8_t i = 1; i < size; ++i) {
    if (text + i == end || byte_at(text + i) < lowest || byte_at(text + i) > highest)
      return {replacement_character, i, false};
    code = code << 6 | (byte_at(text + i) & 0x3fu);
    lowest = 0x80;
    highest = 0xbf;
  }
  return {code, size, true};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
