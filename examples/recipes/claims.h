/* SPDX-License-Identifier: MIT
 *
 * Prints a recipe's claims, and whether they hold, in the Test Anything Protocol. For C and
 * C++. */
#ifndef TINYATTN_EXAMPLES_RECIPES_CLAIMS_H
#define TINYATTN_EXAMPLES_RECIPES_CLAIMS_H

#include <stdbool.h> /* NOLINT(modernize-deprecated-headers): this is C too */

#include "board.h"

static unsigned claims_made, claims_broken;

static inline void print_number(unsigned number) {
  char text[11];
  unsigned first = sizeof text - 1;
  text[first] = 0;
  do {
    text[--first] = "0123456789"[number % 10];
    number /= 10;
  } while (number != 0);
  board_print(text + first);
}

static inline void claim(const char* sentence, bool holds) {
  ++claims_made;
  if (!holds) ++claims_broken;
  board_print(holds ? "ok " : "not ok ");
  print_number(claims_made);
  board_print(" - ");
  board_print(sentence);
  board_print("\n");
}

/* Returns the exit status of main. A recipe without claims fails. */
static inline int verdict(void) {
  board_print("1..");
  print_number(claims_made);
  board_print("\n");
  return claims_made == 0 || claims_broken != 0;
}

#endif
