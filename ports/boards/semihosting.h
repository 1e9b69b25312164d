/* SPDX-License-Identifier: MIT
 *
 * The debugger (here QEMU) as console and operating system: Arm's semihosting, in the two calls that we need. */
#ifndef TINYATTN_SEMIHOSTING_H
#define TINYATTN_SEMIHOSTING_H

void semihosting_print(const char* text);
__attribute__((noreturn)) void semihosting_exit(int status);

#endif
