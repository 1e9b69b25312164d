// SPDX-License-Identifier: MIT
//
// Runs the row once, between two functions that cycles/counter.cpp recognizes.
#include "row.hpp"

extern "C" {
[[gnu::noinline]] void count_begin() { asm volatile(""); }
[[gnu::noinline]] void count_end() { asm volatile(""); }
}

int main() {
  tinyattn::bench::row.prepare();
  count_begin();
  tinyattn::bench::row.once();
  count_end();
  return 0;
}
