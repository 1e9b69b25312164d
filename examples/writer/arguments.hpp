// SPDX-License-Identifier: MIT
//
// What the writer is called with: a prompt and a seed, each of which may be left out.
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

// [PROMPT] [--seed N], in any order. If they are wrong it says why, and returns false.
bool read_arguments(int count, char** words, Arguments& arguments);

}  // namespace writer
