/* SPDX-License-Identifier: MIT
 *
 * A RISC-V core without a C library, emulated by qemu-riscv32 in user mode: a program starts at _start with a stack, and prints and
 * ends by Linux's system calls. */
#include "board.h"

enum { SYSTEM_WRITE = 64, SYSTEM_EXIT = 93 };

static void system_call(long number, long first, const void* second, unsigned long third) {
  register long a0 __asm__("a0") = first;
  register const void* a1 __asm__("a1") = second;
  register unsigned long a2 __asm__("a2") = third;
  register long a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
}

int main(int argc, char** argv);
unsigned strlen(const char* text);

__asm__(
    ".globl _start\n"
    "_start:\n"
    ".option push\n"
    ".option norelax\n"
    "  la gp, __global_pointer$\n"
    ".option pop\n"
    "  lw a0, 0(sp)\n"
    "  addi a1, sp, 4\n"
    "  j start\n");

__attribute__((used, noreturn)) void start(int argc, char** argv) {
  system_call(SYSTEM_EXIT, main(argc, argv), 0, 0);
  __builtin_unreachable();
}

const char board_name[] = "riscv32";

void board_print(const char* text) { system_call(SYSTEM_WRITE, 1, text, strlen(text)); }

int board_has_input(void) { return 0; }

void board_arguments(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
}

unsigned board_stack_used(void) { return 0; }

unsigned long long board_ticks(void) { return 0; }

unsigned long long board_instructions(unsigned long long ticks) { return ticks; }
