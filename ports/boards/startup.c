/* SPDX-License-Identifier: MIT
 *
 * From reset to main on a Cortex-M, and from a fault to a report and a failed exit. In C, because in C++ nobody may call main. */
#include <stdint.h>

#include "board.h"
#include "semihosting.h"
#include "ticks.h"

typedef void (*Function)(void);

/* From sections.ld. */
extern uint32_t stack_bottom[], stack_top[];
extern uint32_t data_start[], data_end[], bss_start[], bss_end[];
extern const uint32_t data_image[];
extern const Function init_array_start[], init_array_end[];

int main(int argc, char** argv);
void reset_handler(void);

enum { FAULT = 99 }; /* the exit status */

const char board_name[] = BOARD_NAME;

void board_print(const char* text) { semihosting_print(text); }

/* --- The stack, filled with a pattern so that its greatest depth can be read --- */

enum { PAINT = 0x5ca1ab1e };

/* Fills the whole stack, except for what the functions up to here may already be using. */
static void paint_stack(void) {
  const uintptr_t in_use = (uintptr_t)__builtin_frame_address(0) - 64;
  for (volatile uint32_t* word = stack_bottom; (uintptr_t)word < in_use; ++word) *word = PAINT;
}

unsigned board_stack_used(void) {
  const uint32_t* deepest = stack_bottom;
  while (deepest < stack_top && *deepest == PAINT) ++deepest;
  return (unsigned)(stack_top - deepest) * sizeof(uint32_t);
}

/* --- Reset --- */

static inline volatile uint32_t* system_register(uint32_t address) { return (volatile uint32_t*)address; }

static void prepare_core(void) {
#if __ARM_ARCH >= 8
  __asm__ volatile("msr msplim, %0" : : "r"(stack_bottom));
#endif
#ifdef __ARM_FP
  *system_register(0xe000ed88) |= 0xfu << 20; /* CPACR, CP10 and CP11: the FPU, and Helium */
#endif
#ifdef __ARM_FEATURE_MVE
  *system_register(0xe000ed14) |= 1u << 19; /* CCR.LOB: loops without a branch */
#endif
  __asm__ volatile("dsb\n isb" : : : "memory");
}

/* Checks the end of the stack, which may have overflowed without a fault. */
static int exit_status(int status) {
  if (*stack_bottom == PAINT) return status;
  board_print("the stack has overflowed\n");
  return FAULT;
}

/* Not inlined, so that nothing in it can move before prepare_core. */
__attribute__((noinline, noreturn)) static void start(void) {
  const uint32_t* image = data_image;
  for (uint32_t* word = data_start; word < data_end; ++word) *word = *image++;
  for (uint32_t* word = bss_start; word < bss_end; ++word) *word = 0;
  start_ticks();
  for (const Function* construct = init_array_start; construct < init_array_end; ++construct) (*construct)();
  semihosting_exit(exit_status(main(0, 0)));
}

void reset_handler(void) {
  paint_stack();
  prepare_core();
  start();
}

/* --- Faults --- */

static void print_register(const char* name, uint32_t value) {
  char digits[] = "00000000\n";
  for (int i = 7; i >= 0; --i, value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
  board_print(name);
  board_print(" ");
  board_print(digits);
}

static void print_status_registers(void) {
#if __ARM_ARCH >= 7
  static const struct {
    const char* name;
    uint32_t address;
  } status[] = {{"cfsr", 0xe000ed28}, {"hfsr", 0xe000ed2c}, {"mmfar", 0xe000ed34}, {"bfar", 0xe000ed38}};
  for (unsigned i = 0; i < sizeof status / sizeof *status; ++i) print_register(status[i].name, *system_register(status[i].address));
#endif
}

static void print_stacked_registers(const uint32_t* frame) {
  static const char* const names[] = {"r0", "r1", "r2", "r3", "r12", "lr", "pc", "xpsr"};
  for (unsigned i = 0; i < 8; ++i) print_register(names[i], frame[i]);
}

/* Whether the stack overflowed, so that the core could not store the registers. */
static int has_overflowed(const uint32_t* frame) {
#if __ARM_ARCH >= 8
  if (*system_register(0xe000ed28) & 1u << 20) return 1; /* CFSR.STKOF */
#endif
  return frame < stack_bottom;
}

__attribute__((noreturn, used)) static void report_fault(const uint32_t* frame) {
  uint32_t exception;
  __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
  board_print("\nfault\n");
  print_register("exception", exception);
  print_register("sp", (uint32_t)frame);
  print_status_registers();
  if (has_overflowed(frame)) {
    board_print("the stack has overflowed\n");
  } else {
    print_stacked_registers(frame);
  }
  semihosting_exit(FAULT);
}

/* The report needs some stack. If too little is left, it restarts from the top; the registers that the core saved are at the bottom. */
__attribute__((naked)) static void fault_handler(void) {
  __asm__ volatile(
      "mrs r0, msp\n"
      "ldr r1, =stack_bottom + 1024\n"
      "cmp r0, r1\n"
      "bhs 1f\n"
      "ldr r1, =stack_top\n"
      "mov sp, r1\n"
      "1: ldr r1, =report_fault\n"
      "bx r1\n"
      ".ltorg");
}

/* "Exception model" in the architecture reference manuals of Armv6-M, Armv7-M and Armv8-M. */
struct Vectors {
  uint32_t* initial_stack;
  Function handlers[15];
};

__attribute__((section(".vectors"), used)) static const struct Vectors vectors = {
    stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, ticks_handler},
};
