// SPDX-License-Identifier: MIT
//
// The core of Arduino.h, and a main that calls loop() until a sketch has had enough time.
#include "Arduino.h"
#include "board.h"

Console Serial;

void Console::print(const char* text) { board_print(text); }

void Console::print(char character) {
  const char text[] = {character, 0};
  board_print(text);
}

void Console::print(unsigned long number, int base) {
  if (number >= static_cast<unsigned long>(base)) print(number / base, base);
  print("0123456789ABCDEF"[number % base]);
}

void Console::print(double number, int digits) {
  if (number < 0) print('-');
  unsigned long scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  const unsigned long units = static_cast<unsigned long>((number < 0 ? -number : number) * scale + 0.5);
  print(units / scale, DEC);
  print('.');
  for (unsigned long rest = units % scale, place = scale / 10; place > 0; rest %= place, place /= 10) print("0123456789"[rest / place]);
}

unsigned long millis() { return 0; }

int main() {
  setup();
  for (int i = 0; i < 1000; ++i) loop();
  return 0;
}
