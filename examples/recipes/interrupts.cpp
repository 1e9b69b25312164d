// SPDX-License-Identifier: MIT
#include "interrupts.hpp"

static void (*timer_handler)();

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

#include <cstddef>
#include <cstdint>

namespace {

using Entry = void (*)();

// The time from the end of a handler to the next interrupt, so that the main loop also runs on slow
// cores.
constexpr std::uint32_t ticks_between = 4000;
enum : std::uint32_t { enable = 1, interrupt = 2, core_clock = 4 };
enum : std::size_t { systick = 15, core_entries = 16 };

volatile std::uint32_t& system_register(std::uintptr_t address) {
  return *reinterpret_cast<volatile std::uint32_t*>(address);
}
volatile std::uint32_t& vector_table() { return system_register(0xe000ed08); }
volatile std::uint32_t& control() { return system_register(0xe000e010); }
volatile std::uint32_t& reload() { return system_register(0xe000e014); }
volatile std::uint32_t& current() { return system_register(0xe000e018); }

alignas(128) Entry vectors[core_entries];

void run_timer() {
  current() = 0;
  control() = enable | interrupt | core_clock;
}

void handle_systick() {
  stop_timer();
  timer_handler();
  run_timer();
}

}  // namespace

void start_timer(void (*handler)()) {
  timer_handler = handler;
  stop_timer();
  const auto* const present = reinterpret_cast<const volatile Entry*>(vector_table());
  for (std::size_t i = 0; i < core_entries; ++i) vectors[i] = present[i];
  vectors[systick] = handle_systick;
  vector_table() = reinterpret_cast<std::uintptr_t>(vectors);
  asm volatile("dsb\n isb" : : : "memory");
  reload() = ticks_between;
  run_timer();
}

void stop_timer() { control() = 0; }

void sleep_until_interrupt() { asm volatile("wfi" : : : "memory"); }

#else

#include <sys/time.h>
#include <unistd.h>
#include <csignal>

static void set_timer(suseconds_t microseconds) {
  const itimerval every = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

void start_timer(void (*handler)()) {
  timer_handler = handler;
  std::signal(SIGALRM, [](int) { timer_handler(); });
  set_timer(100);
}

void stop_timer() { set_timer(0); }

void sleep_until_interrupt() { pause(); }

#endif
