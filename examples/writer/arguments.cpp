// SPDX-License-Identifier: MIT
#include "arguments.hpp"

#include "../support/print.hpp"
#include "model.hpp"

namespace writer {
namespace {

using support::print;

template <class... Parts>
bool refuse(const Parts&... parts) {
  print("writer: ", parts..., "\n");
  return false;
}

// Returns the first character of `text` for an error message, if it is printable ASCII or from U+00C0 to U+02FF; else, since it might
// control a terminal, its first byte in hexadecimal.
constexpr support::Text quoted_first(std::string_view text) {
  support::Text quoted;
  const auto byte = static_cast<unsigned char>(text[0]);
  const bool is_latin = byte >= 0xc3 && byte <= 0xcb && text.size() > 1 && (text[1] & 0xc0) == 0x80;
  if (!is_latin && (byte < ' ' || byte > '~')) {
    quoted.append("the byte 0x");
    quoted.append(support::hexadecimal(byte, 2).c_str());
    return quoted;
  }
  quoted.append('\'');
  for (const char each : text.substr(0, is_latin ? 2 : 1)) quoted.append(each);
  quoted.append('\'');
  return quoted;
}
static_assert(quoted_first("|beauty") == "'|'" && quoted_first("\tbeauty") == "the byte 0x09" && quoted_first("\x7f") == "the byte 0x7f");
static_assert(quoted_first("\u00f6rld") == "'\u00f6'" && quoted_first("\u0219!") == "'\u0219'");
static_assert(quoted_first("\xc3") == "the byte 0xc3" && quoted_first("\xc3rld") == "the byte 0xc3" &&
              quoted_first("\xb6rld") == "the byte 0xb6");
static_assert(quoted_first("\xed\xa0\x80") == "the byte 0xed" && quoted_first("\xe0\x80\x80") == "the byte 0xe0", "no UTF-8");
static_assert(quoted_first("\xc2\x9b") == "the byte 0xc2" && quoted_first("\u202e") == "the byte 0xe2", "nothing of it is seen");

bool read_prompt(std::string_view word, Arguments& arguments) {
  if (word.empty()) return refuse("the prompt is empty");
  for (std::size_t i = 0; i < word.size(); ++i)
    if (!is_known(word[i])) return refuse("the prompt has ", quoted_first(word.substr(i)), ", which the model has never read");
  if (word.size() > longest_prompt) return refuse("the prompt has ", word.size(), " characters, and may have ", longest_prompt);
  arguments.prompt = word;
  return true;
}

bool read_seed(std::string_view word, Arguments& arguments) {
  std::uint64_t seed = 0;
  bool is_number = !word.empty();
  for (const char digit : word) {
    is_number = is_number && digit >= '0' && digit <= '9';
    if (is_number) seed = 10 * seed + static_cast<std::uint64_t>(digit - '0');
    is_number = is_number && seed <= UINT32_MAX;
  }
  if (!is_number) return refuse("a seed is a whole number from 0 to 4,294,967,295");
  arguments.seed = static_cast<std::uint32_t>(seed);
  return true;
}

}  // namespace

bool read_arguments(int count, char** words, Arguments& arguments) {
  bool has_prompt = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--seed") {
      if (!read_seed(++i < count ? words[i] : "", arguments)) return false;
    } else if (word == "--for-ever") {
      arguments.is_for_ever = true;
    } else if (word.starts_with("--")) {
      return refuse("there is no option ", words[i], "; there are --seed and --for-ever");
    } else if (has_prompt) {
      return refuse("there are two prompts: put quotes around one");
    } else if (has_prompt = true; !read_prompt(word, arguments)) {
      return false;
    }
  }
  return count != 0 || refuse("the arguments, or the path of the program, are too long");
}

}  // namespace writer
