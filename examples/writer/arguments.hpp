// SPDX-License-Identifier: MIT
//
// The arguments of the writer: a prompt and a seed, both optional.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace writer {

inline constexpr std::size_t longest_prompt = 160;

struct Arguments {
  std::string_view prompt = "It is a truth";
  std::uint32_t seed = 1;
};

// Parses [PROMPT] [--seed N], in any order. If they are not valid, prints why and returns false.
bool read_arguments(int count, char** words, Arguments& arguments);

}  // namespace writer
