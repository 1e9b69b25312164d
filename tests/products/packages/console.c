/* SPDX-License-Identifier: MIT
 *
 * Only what the samples need from a C library: puts, and printf with %s and %08lx. */
#include <stdarg.h>

#include "board.h"

int printf(const char* format, ...);
int puts(const char* text);

static void put(char character) {
  const char text[] = {character, 0};
  board_print(text);
}

int printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  for (; *format != 0; ++format) {
    if (*format != '%') {
      put(*format);
      continue;
    }
    if (format[1] == 's') {
      board_print(va_arg(values, const char*));
      ++format;
      continue;
    }
    format += sizeof "08lx" - 1;
    const unsigned long value = va_arg(values, unsigned long);
    for (int shift = 28; shift >= 0; shift -= 4) put("0123456789abcdef"[value >> shift & 15]);
  }
  va_end(values);
  return 0;
}

int puts(const char* text) {
  board_print(text);
  put('\n');
  return 0;
}
