// SPDX-License-Identifier: MIT
//
// The functions of board.h for a machine with an operating system: this one, or an emulated one.
#if __has_include(<poll.h>) && !defined(__EMSCRIPTEN__)
#include <poll.h>
#include <unistd.h>
#endif

#include <cstdio>

#include "board.h"

const char board_name[] = BOARD_NAME;

// Flushes, since output to a pipe would wait in a buffer.
void board_print(const char* text) {
  std::fputs(text, stdout);
  std::fflush(stdout);
}

int board_has_input() {
#if __has_include(<poll.h>) && !defined(__EMSCRIPTEN__)
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&input, 1, 0) <= 0) return 0;
  char byte = 0;
  return read(STDIN_FILENO, &byte, 1) == 1;  // at the end of the input there is none
#else
  return 0;
#endif
}

void board_arguments(int*, char***) {}

unsigned board_stack_used() { return 0; }

unsigned long long board_ticks() { return 0; }

unsigned long long board_instructions(unsigned long long) { return 0; }
