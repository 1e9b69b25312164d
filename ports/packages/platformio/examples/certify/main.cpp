// SPDX-License-Identifier: MIT
//
// Prints whether this chip computes the same bits: src/ of a project. With Arduino's framework at the serial port, else by printf.
#include "print_certificate.hpp"

#ifndef TINYATTN_CHIP
#define TINYATTN_CHIP "unnamed"  // the name of yours, for the table of chips
#endif

#ifdef ARDUINO
#include "arduino_counter.h"

void setup() {
  Serial.begin(115200);
  while (!Serial && millis() < 3000) {
  }
  print_certificate(TINYATTN_CHIP, counter, cycles, [](const char* text) { Serial.print(text); });
}

void loop() {}
#else
int main() { return print_certificate(TINYATTN_CHIP) ? 0 : 1; }
#endif
