// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs __cxa_throw: exceptions
void attend(int tokens) {
  if (tokens > 6) throw tokens;
}
