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

support::Text quoted(char character) {
  support::Text text;
  if (character < ' ' || character > '~') return text.append("a character that is no ASCII"), text;
  text.append('\'');
  text.append(character);
  text.append('\'');
  return text;
}

bool read_prompt(std::string_view word, Arguments& arguments) {
  if (word.empty()) return refuse("the prompt is empty");
  if (word.size() > longest_prompt) return refuse("the prompt has ", word.size(), " characters, and may have ", longest_prompt);
  for (const char character : word)
    if (token_of(character) == vocabulary_size) return refuse("the prompt has ", quoted(character), ", which the model has never read");
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
