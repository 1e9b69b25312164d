// SPDX-License-Identifier: MIT
//
// Prints whether a board computes the same bits, on Zephyr. Zephyr uses the SysTick of a Cortex-M0, which has no other counter.
#include "print_certificate.hpp"

#ifndef CONFIG_BOARD
#define CONFIG_BOARD "without-zephyr"
#endif

#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) || defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
int main() { return print_certificate(CONFIG_BOARD) ? 0 : 1; }
#else
int main() { return print_certificate(CONFIG_BOARD, "none") ? 0 : 1; }
#endif
