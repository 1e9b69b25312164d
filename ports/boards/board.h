/* SPDX-License-Identifier: MIT
 *
 * The functions of the board that a program runs on. startup.c, arguments.c, uart.c and ticks.c implement them for every Cortex-M under
 * QEMU; a machine with an operating system is a board too (host/). A fault ends the program with a report and a status other than 0. */
#ifndef TINYATTN_BOARD_H
#define TINYATTN_BOARD_H

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the board: "mps2-an386", "host". */
extern const char board_name[];

/* Writes a zero-terminated text to the console. */
void board_print(const char* text);

/* Whether a byte has come since the first call: at standard input, where its end counts, too, or at the first UART of a Cortex-M board. 0
 * on boards with neither. */
int board_has_input(void);

/* Reads the arguments of main. A Cortex-M board replaces them by the words of QEMU's -append '-- WORDS', where \s in a word is a space, \\
 * a backslash; *argc is 0 if they and the program's name are longer than 400 characters. Other boards keep them. */
void board_arguments(int* argc, char*** argv);

/* Returns the most bytes of stack that the program has used since it started; 0 on boards that do not measure it. */
unsigned board_stack_used(void);

/* board_ticks returns the time since the program started, or since board_arguments, in a unit of the board's own; board_instructions
 * converts a difference of two such times to instructions. The number is exact to a few, and includes board_ticks' own. 0 on boards
 * that do not count.
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
