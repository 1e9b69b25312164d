/* SPDX-License-Identifier: MIT
 *
 * "Semihosting for AArch32 and AArch64" (Arm, IHI 0103) names the operations and their arguments. */
#include "semihosting.h"

#include <stdint.h>

enum { SYS_WRITE0 = 0x04, SYS_GET_CMDLINE = 0x15, SYS_EXIT_EXTENDED = 0x20, ADP_STOPPED_APPLICATION_EXIT = 0x20026 };

static int call(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void semihosting_print(const char* text) { call(SYS_WRITE0, text); }

int semihosting_read_command_line(char* text, unsigned size) {
  struct {
    char* text;
    unsigned length;
  } line = {text, size};
  return call(SYS_GET_CMDLINE, &line) == 0;
}

void semihosting_exit(int status) {
  const uint32_t reason_and_status[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
  for (;;) call(SYS_EXIT_EXTENDED, reason_and_status);
}
