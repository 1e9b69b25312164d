/* SPDX-License-Identifier: MIT
 *
 * Splits the text after "--" of QEMU's -append into words: the arguments that main has elsewhere. */
#include "board.h"
#include "semihosting.h"
#include "ticks.h"

enum { LONGEST = 400, MOST = 8 };

/* Copies a word, in which \s is a space and \\ a backslash. Returns the start of the next one. */
static char* read_word(char* from, char* to) {
  for (; *from != 0 && *from != ' '; ++from) {
    const int is_escape = *from == '\\' && from[1] != 0;
    if (is_escape) ++from;
    *to++ = (char)(is_escape && *from == 's' ? ' ' : *from);
  }
  char* const end = *from == 0 ? from : from + 1;
  *to = 0; /* it may have been at `from` */
  return end;
}

/* Returns where the words begin: after " -- ", which follows the name of the program, which may contain spaces. */
static char* first_word(char* line) {
  while (*line != 0 && !(line[0] == ' ' && line[1] == '-' && line[2] == '-' && line[3] == ' ')) ++line;
  if (*line == 0) return line;
  *line = 0;
  return line + 4;
}

void board_arguments(int* argc, char*** argv) {
  static char line[LONGEST + 1];
  static char* words[MOST + 1];
  *argc = 0;
  *argv = words;
  if (!semihosting_read_command_line(line, sizeof line)) return;
  char* next = first_word(line);
  words[(*argc)++] = line;
  while (*next != 0 && *argc < MOST) {
    char* const word = next;
    words[(*argc)++] = word;
    next = read_word(next, word);
  }
  start_ticks(); /* again, so that a tick interrupts main at the same instruction wherever the program's file is */
}
