// SPDX-License-Identifier: MIT
//
// Divides a stream of bytes into whole characters of UTF-8.
#pragma once

#include "tinyattn/shape.hpp"

#include <cstddef>
#include <string_view>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

constexpr std::size_t longest_character = 4;  // in bytes

constexpr unsigned byte_at(std::string_view bytes, std::size_t i) noexcept {
  return static_cast<unsigned char>(bytes[i]);
}

// Returns how many bytes a character has that begins with this byte; 0 if none does.
constexpr std::size_t length_of_character(unsigned first) noexcept {
  if (first < 0x80) return 1;
  return first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

// Whether bytes, no more than the character has that the first begins, can be its beginning. The
// second byte excludes longer forms of short characters, surrogates, and what is beyond U+10FFFF.
// Table 3-7 of the Unicode Standard.
constexpr bool begins_character(std::string_view bytes) noexcept {
  const unsigned first = byte_at(bytes, 0);
  for (std::size_t i = 1; i < bytes.size(); ++i)
    if (byte_at(bytes, i) >> 6 != 2) return false;
  if (bytes.size() < 2) return true;
  const unsigned second = byte_at(bytes, 1);
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  return first != 0xf4 || second < 0x90;
}

// Whether bytes are the beginning of a character, and not all of it.
constexpr bool is_incomplete(std::string_view bytes) noexcept {
  return !bytes.empty() && bytes.size() < length_of_character(byte_at(bytes, 0)) &&
         begins_character(bytes);
}

// Returns how many bytes at the end are the beginning of a character that goes on after them.
constexpr std::size_t incomplete_tail(std::string_view bytes) noexcept {
  const char* const end = bytes.data() + bytes.size();
  for (std::size_t count = longest_character - 1; count != 0; --count)
    if (count <= bytes.size() && is_incomplete({end - count, count})) return count;
  return 0;
}

// Keeps the beginning of a character until the rest of it comes.
class CharacterStream {
 public:
  // Passes bytes to put(std::string_view), which returns whether to go on. Returns the same.
  constexpr bool write(std::string_view bytes, const auto& put) noexcept {
    while (size_ != 0 && !bytes.empty()) {
      kept_[size_] = bytes[0];
      const std::string_view longer{kept_, size_ + 1};
      if (begins_character(longer)) {
        ++size_;
        bytes.remove_prefix(1);
        if (is_incomplete(longer)) continue;
      }
      if (!flush(put)) return false;
    }
    const std::size_t tail = incomplete_tail(bytes);
    for (std::size_t i = bytes.size() - tail; i < bytes.size(); ++i) kept_[size_++] = bytes[i];
    bytes.remove_suffix(tail);
    return bytes.empty() || put(bytes);
  }

  // Passes on what is kept, as it is.
  constexpr bool flush(const auto& put) noexcept {
    const std::string_view bytes = kept();
    size_ = 0;
    return bytes.empty() || put(bytes);
  }

 private:
  constexpr std::string_view kept() const noexcept { return {kept_, size_}; }

  char kept_[longest_character] = {};
  std::size_t size_ = 0;
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
