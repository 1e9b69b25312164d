// SPDX-License-Identifier: MIT
//
// Cortex-M: paints the free stack, calls, and looks how far down the paint is gone. `stack_bottom` comes from sections.ld.
#include "painted_stack.hpp"

#include <cstdint>

extern "C" volatile std::uint32_t stack_bottom[];

namespace tinyattn::footprint {

unsigned painted_stack(void (*call)()) {
  constexpr std::uint32_t paint = 0x5ca1ab1e;
  std::uintptr_t top;
  asm volatile("cpsid i\n mov %0, sp" : "=r"(top) : : "memory");  // an interrupt would leave its frame on our paint
  const auto words = static_cast<std::uint32_t>((top - reinterpret_cast<std::uintptr_t>(stack_bottom)) / sizeof paint);
  for (std::uint32_t i = 0; i < words; ++i) stack_bottom[i] = paint;
  call();
  std::uint32_t untouched = 0;
  while (untouched < words && stack_bottom[untouched] == paint) ++untouched;
  asm volatile("cpsie i" : : : "memory");
  return (words - untouched) * sizeof paint;
}

}  // namespace tinyattn::footprint
