// SPDX-License-Identifier: MIT
//
// Prints one line: whether this chip computes the bits that every machine computes, and how many cycles it takes. Send it to the project,
// or let examples/certify/read.py of a clone read it. A Cortex-M0 at 16 MHz computes for three minutes.
#include <tinyattn.h>
#include <tinyattn/certify/certify.h>

const char chip[] = "my board";  // its name, for the table of chips

// More memory, up to TINYATTN_CERTIFY_MOST, lets the calls have larger shapes.
alignas(16) static uint32_t memory[TINYATTN_CERTIFY_LEAST / sizeof(uint32_t)];

#if defined(ESP32)
const char* const counter = "esp_cpu";
uint32_t cycles() { return ESP.getCycleCount(); }
#elif defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
const char* const counter = "micros";  // since the core uses SysTick
uint32_t cycles() { return micros() * (F_CPU / 1000000); }
#else
const char* const counter = nullptr;  // the core's own
uint32_t (*const cycles)() = nullptr;
#endif

void print(const char* text) { Serial.print(text); }

void setup() {
  Serial.begin(115200);
  while (!Serial && millis() < 3000) {
  }
  const tinyattn_chip described = {chip, false, print, memory, sizeof memory, counter, cycles};
  if (!tinyattn_certify(&described)) Serial.println("a call was refused, or wrote beyond its memory");
}

void loop() {}
