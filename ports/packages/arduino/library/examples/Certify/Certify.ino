// SPDX-License-Identifier: MIT
//
// Prints one line: whether this chip computes the bits that every machine computes, and how many cycles it takes. Send it to the project,
// or let examples/certify/read.py of a clone read it. A Cortex-M0 at 16 MHz computes for two minutes.
#include <tinyattn.h>
#include <tinyattn/certify/certify.h>

#include "arduino_counter.h"

const char chip[] = "my board";  // its name, for the table of chips

// More memory, up to TINYATTN_CERTIFY_MOST, lets the calls have larger shapes.
alignas(16) static uint32_t memory[TINYATTN_CERTIFY_LEAST / sizeof(uint32_t)];

void print(const char* text) { Serial.print(text); }

void setup() {
  Serial.begin(115200);
  while (!Serial && millis() < 3000) {
  }
  const tinyattn_chip described = {chip, false, print, memory, sizeof memory, counter, cycles};
  if (!tinyattn_certify(&described)) Serial.println("a call was refused, or wrote beyond its memory");
}

void loop() {}
