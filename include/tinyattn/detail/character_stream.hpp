// SPDX-License-Identifier: MIT
//
// Divides a stream of bytes into whole characters of UTF-8.
#pragma once

#include "tinyattn/kernel/text/utf8.hpp"

#include <cstddef>
#include <string_view>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

constexpr std::size_t longest_character = 4;  // in bytes

// Whether bytes are a character, or the beginning of one.
constexpr bool begins_character(std::string_view bytes) noexcept {
  return kernel::decode(bytes.data(), bytes.data() + bytes.size()).size == bytes.size();
}

// Whether bytes are the beginning of a character, and not all of it.
constexpr bool is_incomplete(std::string_view bytes) noexcept {
  return bytes.size() < kernel::size_of_character(kernel::byte_at(bytes.data())) &&
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
