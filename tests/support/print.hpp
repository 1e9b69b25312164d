// SPDX-License-Identifier: MIT
//
// Text and numbers to the console of any board: no libc beyond board_print.
#pragma once

#include "board.h"

#include <concepts>
#include <cstdint>

namespace tinyattn::test {

inline void print(const char* text) { board_print(text); }

inline void print(std::unsigned_integral auto number) {
  char digits[21] = {};
  char* first = digits + 20;
  do *--first = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  board_print(first);
}

// Eight digits of base 16.
struct Hex {
  std::uint32_t number;
};
inline void print(Hex hex) {
  char digits[] = "00000000";
  for (int i = 7; i >= 0; --i, hex.number >>= 4) digits[i] = "0123456789abcdef"[hex.number & 15];
  board_print(digits);
}

// One after the other.
template <class... Parts>
void print(const Parts&... parts) requires(sizeof...(Parts) > 1) {
  (print(parts), ...);
}

}  // namespace tinyattn::test
