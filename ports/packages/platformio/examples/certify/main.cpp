// SPDX-License-Identifier: MIT
//
// Prints whether this chip computes the same bits, on any board whose framework has a console: src/ of a project. With Arduino's framework,
// print_certificate() belongs into setup(), and a Cortex-M0 gives a counter, since SysTick is not free.
#include "print_certificate.hpp"

#ifndef TINYATTN_CHIP
#define TINYATTN_CHIP "unnamed"  // the name of yours
#endif

int main() { return print_certificate(TINYATTN_CHIP) ? 0 : 1; }
