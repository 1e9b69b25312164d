/* SPDX-License-Identifier: MIT
 *
 * The debugger (here QEMU) as console and operating system: Arm's semihosting, in the three calls that we need. */
#ifndef TINYATTN_SEMIHOSTING_H
#define TINYATTN_SEMIHOSTING_H

void semihosting_print(const char* text);
/* The name of the program and what it is called with, ended by a zero. Returns 0 if that has not room in `size` bytes. */
int semihosting_read_command_line(char* text, unsigned size);
__attribute__((noreturn)) void semihosting_exit(int status);

#endif
