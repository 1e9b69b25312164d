// SPDX-License-Identifier: MIT
//
// Text and numbers to the console of any board: no libc beyond board_print.
#pragma once

#include "board.h"

#include <cstdint>

namespace tinyattn::test {

inline void print(const char* text) { board_print(text); }

inline void print(unsigned number) {
  char digits[11] = {};
  char* first = digits + 10;
  do *--first = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  board_print(first);
}

inline void print_hex(std::uint32_t number) {
  char digits[] = "00000000";
  for (int i = 7; i >= 0; --i, number >>= 4) digits[i] = "0123456789abcdef"[number & 15];
  board_print(digits);
}

}  // namespace tinyattn::test
