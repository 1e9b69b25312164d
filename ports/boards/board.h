/* SPDX-License-Identifier: MIT
 *
 * What a program may ask of the board it runs on. startup.c and ticks.c implement it for every Cortex-M under QEMU;
 * the machine you sit at is a board too (host/). A fault ends the program with a report and a status other than 0. */
#ifndef TINYATTN_BOARD_H
#define TINYATTN_BOARD_H

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the board: "mps2-an386", "host". */
extern const char board_name[];

/* Writes a zero-terminated text to the console. */
void board_print(const char* text);

/* The arguments of main: at first those that it was called with, which are none on a board; then those of QEMU's -append '-- WORDS',
 * where a space in a word is written \s, a backslash \\. *argc is 0 if they and the program's name are longer than 400 characters. */
void board_arguments(int* argc, char*** argv);

/* Bytes of stack that the program has used at its deepest since it started; 0 where nobody measures. */
unsigned board_stack_used(void);

/* Time since the program started, in a unit of the board's own, and how many instructions a difference of two such times is:
 * exact to a few, among which are those of taking the time. 0 where nobody counts.
 *
 *   const unsigned long long begin = board_ticks();
 *   work();
 *   const unsigned long long instructions = board_instructions(board_ticks() - begin); */
unsigned long long board_ticks(void);
unsigned long long board_instructions(unsigned long long ticks);

#ifdef __cplusplus
}
#endif

#endif
