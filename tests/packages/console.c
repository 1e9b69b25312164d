/* SPDX-License-Identifier: MIT
 *
 * Of a C library no more than the samples print with, on the console of a board: %s, %c, %u and %08lx of printf, and puts. */
#include <stdarg.h>

#include "board.h"

int printf(const char* format, ...);
int puts(const char* text);

static void put(char character) {
  const char text[] = {character, 0};
  board_print(text);
}

static void put_number(unsigned long value, unsigned base, int digits) {
  if (digits > 1 || value >= base) put_number(value / base, base, digits - 1);
  put("0123456789abcdef"[value % base]);
}

int printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  for (; *format != 0; ++format) {
    if (*format != '%') {
      put(*format);
      continue;
    }
    const int digits = format[1] == '0' ? 8 : 1;
    format += digits == 8 ? 3 : 1;
    const int is_long = *format == 'l';
    format += is_long;
    if (*format == 's')
      board_print(va_arg(values, const char*));
    else if (*format == 'c')
      put((char)va_arg(values, int));
    else
      put_number(is_long ? va_arg(values, unsigned long) : va_arg(values, unsigned), *format == 'x' ? 16 : 10, digits);
  }
  va_end(values);
  return 0;
}

int puts(const char* text) {
  board_print(text);
  put('\n');
  return 0;
}
