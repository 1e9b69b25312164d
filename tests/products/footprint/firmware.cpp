// SPDX-License-Identifier: MIT
//
// Calls the layer, usually once, and prints in hexadecimal the size of its scratch and the stack that the call took. It has no float
// arithmetic of its own: any in the image comes from the layer.
#include "speed/costs/calls.hpp"
#include "support/print.hpp"

#include <cstddef>
#include <cstdint>

using namespace tinyattn::footprint;

extern "C" volatile std::uint32_t stack_bottom[];  // from sections.ld

// Replaces layer.cpp in the firmware without the layer.
[[gnu::weak]] void attend(const Layer&, const Input&, Output&, Workspace&) noexcept {}

namespace {

// All numbers are 0: the use of the stack does not depend on them.
Input x;
Output out;
Workspace workspace;

// Returns the bytes of stack that the call took: fills the free stack with a pattern, and finds how much of it was overwritten.
[[gnu::noinline]] unsigned painted_stack() {
  constexpr std::uint32_t paint = 0x5ca1ab1e;
  std::uintptr_t top;
  asm volatile("cpsid i\n mov %0, sp" : "=r"(top) : : "memory");  // an interrupt would overwrite the pattern
  const auto words = static_cast<std::uint32_t>((top - reinterpret_cast<std::uintptr_t>(stack_bottom)) / sizeof paint);
  for (std::uint32_t i = 0; i < words; ++i) stack_bottom[i] = paint;
  for (std::size_t i = 0; i <= Measured::calls_before; ++i) attend(Measured::measured, x, out, workspace);
  std::uint32_t untouched = 0;
  while (untouched < words && stack_bottom[untouched] == paint) ++untouched;
  asm volatile("cpsie i" : : : "memory");
  return (words - untouched) * sizeof paint;
}

}  // namespace

int main() {
  using tinyattn::test::print, tinyattn::test::Hex;
  print("scratch ", Hex{sizeof workspace}, "\n");
  print("stack ", Hex{painted_stack()}, "\n");
  return 0;
}
