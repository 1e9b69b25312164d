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

constexpr bool is_continuation(char byte) { return (byte & 0xc0) == 0x80; }

// Bytes of the UTF-8 character that `text`, which is not empty, begins with; 0 if it begins with none.
constexpr std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!is_continuation(text[i])) return 0;
  return size;
}

// The first character of `text`, for a sentence.
constexpr support::Text quoted_first(std::string_view text) {
  support::Text quoted;
  const std::size_t size = character_size(text);
  if (size == 0) return quoted.append("a byte that is no UTF-8"), quoted;
  if (size == 1 && (text[0] < ' ' || text[0] > '~')) return quoted.append("a control character"), quoted;
  quoted.append('\'');
  for (const char byte : text.substr(0, size)) quoted.append(byte);
  quoted.append('\'');
  return quoted;
}
static_assert(quoted_first("|beauty") == "'|'" && quoted_first("\tbeauty") == "a control character");
static_assert(quoted_first("\u00f6rld") == "'\u00f6'" && quoted_first("\U0001f600!") == "'\U0001f600'");
static_assert(quoted_first("\xc3") == "a byte that is no UTF-8" && quoted_first("\xb6rld") == quoted_first("\xe2\x82!"));

bool read_prompt(std::string_view word, Arguments& arguments) {
  if (word.empty()) return refuse("the prompt is empty");
  for (std::size_t i = 0; i < word.size(); ++i)
    if (token_of(word[i]) == vocabulary_size)
      return refuse("the prompt has ", quoted_first(word.substr(i)), ", which the model has never read");
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
    } else if (word.starts_with("--")) {
      return refuse("there is no option ", words[i], "; there is --seed");
    } else if (has_prompt) {
      return refuse("there are two prompts: put quotes around one");
    } else if (has_prompt = true; !read_prompt(word, arguments)) {
      return false;
    }
  }
  return count != 0 || refuse("the arguments, or the path of the program, are too long");
}

}  // namespace writer
