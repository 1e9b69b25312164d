// SPDX-License-Identifier: MIT
//
// The counter of cycles that a core has:
//
//   Cortex-M3 and later      CYCCNT of the DWT, 32 bits
//   Cortex-M0, M0+           SysTick, 24 bits, which counts down. If an operating system uses it, give another counter
//   RISC-V                   rdcycle. Not every chip has it
//   others                   none
#pragma once

#include <cstdint>

namespace certify {

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

inline volatile std::uint32_t& core_register(std::uintptr_t address) { return *reinterpret_cast<volatile std::uint32_t*>(address); }

#if __ARM_ARCH == 6 || (__ARM_ARCH == 8 && !defined(__ARM_ARCH_8M_MAIN__) && !defined(__ARM_ARCH_8_1M_MAIN__))
inline constexpr char core_counter[] = "systick";
inline constexpr std::uint32_t counter_mask = 0xffffff;
inline void start_core_counter() {
  core_register(0xe000e014) = counter_mask;
  core_register(0xe000e018) = 0;
  core_register(0xe000e010) = core_register(0xe000e010) | 5; /* ENABLE, by the clock of the core */
}
inline std::uint32_t core_cycles() { return counter_mask - core_register(0xe000e018); }
#else
inline constexpr char core_counter[] = "dwt";
inline constexpr std::uint32_t counter_mask = 0xffffffff;
inline void start_core_counter() {
  core_register(0xe000edfc) = core_register(0xe000edfc) | 1u << 24; /* DEMCR.TRCENA */
  core_register(0xe0001fb0) = 0xc5acce55;                           /* the lock of a Cortex-M7 */
  core_register(0xe0001000) = core_register(0xe0001000) | 1;        /* DWT_CTRL.CYCCNTENA */
}
inline std::uint32_t core_cycles() { return core_register(0xe0001004); }
#endif

#elif defined(__riscv)

inline constexpr char core_counter[] = "rdcycle";
inline constexpr std::uint32_t counter_mask = 0xffffffff;
inline void start_core_counter() {}
inline std::uint32_t core_cycles() {
  std::uintptr_t cycles;
  asm volatile(".insn i 0x73, 2, %0, x0, -1024" : "=r"(cycles)); /* rdcycle, for assemblers that ask for Zicsr */
  return static_cast<std::uint32_t>(cycles);
}

#else

inline constexpr char core_counter[] = "none";
inline constexpr std::uint32_t counter_mask = 0;
inline void start_core_counter() {}
inline std::uint32_t core_cycles() { return 0; }

#endif

}  // namespace certify
