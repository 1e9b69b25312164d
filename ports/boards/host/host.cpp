// SPDX-License-Identifier: MIT
//
// The machine you sit at, or any other with an operating system, as a board.
#include <cstdio>

#include "board.h"

const char board_name[] = BOARD_NAME;

void board_print(const char* text) { std::fputs(text, stdout); }

unsigned board_stack_used() { return 0; }

unsigned long long board_ticks() { return 0; }

unsigned long long board_instructions(unsigned long long) { return 0; }
