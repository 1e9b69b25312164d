// SPDX-License-Identifier: MIT
//
// Runs every row once, between two functions that counter.cpp knows by their addresses, and prints its name.
#include "board.h"
#include "row.hpp"

extern "C" {
[[gnu::noinline]] void count_begin() { asm volatile(""); }
[[gnu::noinline]] void count_end() { asm volatile(""); }
}

int main() {
  for (const tinyattn::bench::Row* row = tinyattn::bench::rows; row != nullptr; row = row->next) {
    board_print(row->name);
    board_print("\n");
    row->prepare();
    count_begin();
    row->once();
    count_end();
  }
  return 0;
}
