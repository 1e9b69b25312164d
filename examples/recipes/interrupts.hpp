// SPDX-License-Identifier: MIT
//
// A timer interrupt for main_loop.cpp and stream.cpp: SysTick on a Cortex-M that can move its
// vector table (not a Cortex-M0); elsewhere a signal, which interrupts a program at any point too.
#pragma once

// Calls the handler periodically.
void start_timer(void (*handler)());
void stop_timer();

// Sleeps until the next interrupt; may return earlier. An interrupt just before the call does not
// end the sleep.
void sleep_until_interrupt();
