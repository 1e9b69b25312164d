// SPDX-License-Identifier: MIT
//
// The arguments of the writer, all optional: a prompt, a seed, and whether it writes until a key is pressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace writer {

inline constexpr std::size_t longest_prompt = 160;

struct Arguments {
  std::string_view prompt = "It is a truth";
  std::uint32_t seed = 3;
  bool is_for_ever = false;
};

// Parses [PROMPT] [--seed N] [--for-ever], in any order. Prints what is wrong and returns false if they are not valid.
bool read_arguments(int count, char** words, Arguments& arguments);

}  // namespace writer
