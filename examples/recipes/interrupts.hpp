// SPDX-License-Identifier: MIT
//
// A timer interrupt for main_loop.cpp: SysTick on a Cortex-M that can move its vector table (not a
// Cortex-M0); elsewhere a signal, which interrupts a program just as rudely.
#pragma once

// Calls the handler again and again.
void start_timer(void (*handler)());
void stop_timer();

// May also wake for nothing; and a handler that ran just before is not waited for, but the next
// one.
void sleep_until_interrupt();
