// SPDX-License-Identifier: MIT
//
// Includes the headers after macros of other software: single capital letters, complex.h, newlib's ctype.h, Arduino, ESP-IDF, lwIP, Zephyr,
// windows.h, X11. Of the 75,000 names that Arduino's AVR core, ESP-IDF and the HAL of an STM32F4 define, this file has those that the
// headers also use. The library cannot choose what a firmware includes first. All of that software includes the C library before it defines
// `abs`. meson.build defines single letters, as for a number of layers or heads.
#include <math.h>
#include <stdlib.h>

// complex.h
#define I _Complex_I

// ctype.h
#define _U 01
#define _L 02
#define _N 04
#define _S 010
#define _P 020
#define _C 040
#define _X 0100
#define _B 0200

// Arduino.h
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define abs(x) ((x) > 0 ? (x) : -(x))
#define round(x) ((x) >= 0 ? (long)((x) + 0.5) : (long)((x)-0.5))
#define sq(x) ((x) * (x))
#define constrain(x, low, high) ((x) < (low) ? (low) : ((x) > (high) ? (high) : (x)))
#define radians(deg) ((deg)*0.017453292519943295)
#define degrees(rad) ((rad)*57.29577951308232)
#define lowByte(w) ((w)&0xff)
#define highByte(w) ((w) >> 8)
#define bitRead(value, bit) (((value) >> (bit)) & 0x01)
#define bit(b) (1UL << (b))
#define word(...) makeWord(__VA_ARGS__)
#define F(text) (text)
#define PI 3.1415926535897932
#define HIGH 1
#define LOW 0
#define INPUT 0
#define OUTPUT 1
#define DEFAULT 0
#define EXTERNAL 1
#define INTERNAL 3
#define A0 14
#define B0 0
#define B1 1
#define B10 2

// ESP-IDF, lwIP
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define read(s, mem, len) lwip_read(s, mem, len)

// Zephyr's toolchain.h, sys/util.h and sys/minmax.h; the attributes there, such as __packed, are newlib's too
#define max3(a, b, c) max(a, max(b, c))
#define min3(a, b, c) min(a, min(b, c))
#define BIT(n) (1UL << (n))
#define CONCAT(x, y) x##y
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

// windows.h
#define near
#define far
#define small char
#define interface struct
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define ERROR 0
#define DELETE 0x00010000L
#define TRUE 1
#define FALSE 0

// X11/X.h, sys/param.h, firmware of vendors
#define None 0L
#define Bool int
#define Success 0
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SET 1
#define RESET 0
#define BIT0 1
#define ECHO 8

#include "common_names.cpp"
