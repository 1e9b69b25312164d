/* SPDX-License-Identifier: MIT
 *
 * Whether the first UART, Nordic's nRF51 or Arm's CMSDK, has received a byte. Their addresses are properties of cross.ini; 0 if the board
 * has none. The rate and the pins keep their reset values, which QEMU ignores. */
#include <stdint.h>

#include "board.h"

#ifndef NRF51_UART
#define NRF51_UART 0u
#endif
#ifndef CMSDK_UART
#define CMSDK_UART 0u
#endif

/* The register of a UART at an offset. */
static volatile uint32_t* at(uint32_t uart, uint32_t offset) { return (volatile uint32_t*)(uart + offset); }

/* "nRF51 Series Reference Manual", UART. */
static int nrf51_has_input(uint32_t uart) {
  *at(uart, 0x500) = 4;         /* ENABLE */
  *at(uart, 0x000) = 1;         /* STARTRX */
  return *at(uart, 0x108) != 0; /* RXDRDY */
}

/* "Cortex-M System Design Kit", APB UART. */
static int cmsdk_has_input(uint32_t uart) {
  *at(uart, 0x008) = 2;               /* CTRL: receives */
  return (*at(uart, 0x004) & 2) != 0; /* STATE: has received */
}

int board_has_input(void) {
  if (NRF51_UART != 0) return nrf51_has_input(NRF51_UART);
  return CMSDK_UART != 0 && cmsdk_has_input(CMSDK_UART);
}
