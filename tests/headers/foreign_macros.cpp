// SPDX-License-Identifier: MIT
//
// The headers after the macros of others: of complex.h, of newlib's ctype.h, of Arduino, windows.h
// and X11. What a firmware includes first is not the library's choice. All of them include the C
// library before they define `abs`.
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
