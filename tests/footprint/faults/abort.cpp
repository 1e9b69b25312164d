// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs abort: an end of the program
extern "C" void abort();

void attend(int tokens) {
  if (tokens > 6) abort();
}
