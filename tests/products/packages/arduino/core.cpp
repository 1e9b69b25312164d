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

unsigned long micros() { return 0; }
unsigned long millis() { return 0; }

int main() {
  setup();
  for (int i = 0; i < 1000; ++i) loop();
  return 0;
}
