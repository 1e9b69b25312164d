// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs printf: stdio
extern "C" int printf(const char*, ...);

void attend() { printf("too many tokens\n"); }
