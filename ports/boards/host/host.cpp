// SPDX-License-Identifier: MIT
//
// The functions of board.h for a machine with an operating system: this one, or an emulated one.
#include <cstdio>

#include "board.h"

const char board_name[] = BOARD_NAME;

// Flushes, since output to a pipe would wait in a buffer.
void board_print(const char* text) {
  std::fputs(text, stdout);
  std::fflush(stdout);
}

void board_arguments(int*, char***) {}

unsigned board_stack_used() { return 0; }

unsigned long long board_ticks() { return 0; }

unsigned long long board_instructions(unsigned long long) { return 0; }
