/* SPDX-License-Identifier: MIT
 *
 * SysTick counts down cycles of the core's clock with 24 bits; its interrupt counts how often it wraps around. Under QEMU's -icount
 * an instruction takes a fixed virtual time, so that ticks can be converted to instructions. */
#include "ticks.h"

#include <stdint.h>

#include "board.h"

enum { NANOSECONDS_PER_INSTRUCTION = 1 << 6 }; /* as in cortex-m.ini: -icount shift=6 */
enum { ENABLE = 1, INTERRUPT = 2, CORE_CLOCK = 4, PERIOD = 1 << 24 };

static volatile uint32_t* const control = (volatile uint32_t*)0xe000e010;
static volatile uint32_t* const reload = (volatile uint32_t*)0xe000e014;
static volatile uint32_t* const current = (volatile uint32_t*)0xe000e018;

static volatile uint32_t rounds;

void ticks_handler(void) { rounds = rounds + 1; }

void start_ticks(void) {
  rounds = 0;
  *reload = PERIOD - 1;
  *current = 0;
  *control = ENABLE | INTERRUPT | CORE_CLOCK;
}

unsigned long long board_ticks(void) {
  uint32_t round;
  uint32_t down;
  do {
    round = rounds;
    down = *current;
  } while (round != rounds);
  return (unsigned long long)round * PERIOD + (PERIOD - down) % PERIOD;
}

unsigned long long board_instructions(unsigned long long ticks) {
  const unsigned long long ticks_per_second_of_instructions = (unsigned long long)BOARD_CLOCK_HZ * NANOSECONDS_PER_INSTRUCTION;
  return (ticks * 1000000000u + ticks_per_second_of_instructions / 2) / ticks_per_second_of_instructions;
}
