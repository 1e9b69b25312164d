// SPDX-License-Identifier: MIT
//
// Text and numbers to the console of any board: no libc beyond board_print.
#pragma once

#include "board.h"

namespace tinyattn::test {

inline void print(const char* text) { board_print(text); }

inline void print(unsigned number) {
  char digits[11] = {};
  char* first = digits + 10;
  do *--first = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  board_print(first);
}

}  // namespace tinyattn::test
