/* SPDX-License-Identifier: MIT
 *
 * The debugger (here QEMU) as console and operating system: the three calls of Arm's semihosting that we need. */
#ifndef TINYATTN_SEMIHOSTING_H
#define TINYATTN_SEMIHOSTING_H

void semihosting_print(const char* text);
/* Reads the program's name and arguments, zero-terminated. Returns 0 if they do not fit into `size` bytes. */
int semihosting_read_command_line(char* text, unsigned size);
__attribute__((noreturn)) void semihosting_exit(int status);

#endif
