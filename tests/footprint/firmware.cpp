// SPDX-License-Identifier: MIT
//
// Calls the layer once and prints, in hexadecimal, the size of its scratch, the stack that the call took and a CRC-32 of the output.
// There is no float arithmetic here, so that whatever of it the image holds came with the layer.
#include "board.h"
#include "layers.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

extern "C" volatile std::uint32_t stack_bottom[];  // from sections.ld

namespace tinyattn::footprint {
namespace {

Layer layer;
Input x;
Output out;
Layer::Workspace workspace;

// Numbers of either sign from 2^-4 to 1, out of the bits of a linear congruential generator (Knuth, volume 2, 3.3.4).
void fill(auto& tensor, std::uint32_t& state) {
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const std::uint32_t sign_and_fraction = state & 0x807fffffu;
    const std::uint32_t exponent = 123 + (state >> 23 & 3);
    tensor.data()[i] = std::bit_cast<float>(sign_and_fraction | exponent << 23);
  }
}

void fill_all() {
  std::uint32_t state = 123;
  fill(layer.query.weight, state);
  fill(layer.key.weight, state);
  fill(layer.value.weight, state);
  fill(layer.out_proj.weight, state);
  fill(layer.out_proj.bias, state);
  fill(x, state);
}

std::uint32_t crc_of_output() {
  std::uint32_t crc = ~0u;
  for (std::size_t i = 0; i < out.size(); ++i) {
    crc ^= std::bit_cast<std::uint32_t>(out.data()[i]);
    for (int bit = 0; bit < 32; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

// The bytes of stack that a call took at its deepest, on a board: paints what is free of it, and looks how far down the paint is gone.
[[gnu::noinline]] unsigned painted_stack(void (*call)()) {
#if __STDC_HOSTED__
  call();
  return 0;
#else
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
#endif
}

void print(const char* name, std::uint32_t value) {
  char digits[] = "00000000\n";
  for (int i = 7; i >= 0; --i, value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
  board_print(name);
  board_print(" ");
  board_print(digits);
}

}  // namespace
}  // namespace tinyattn::footprint

int main() {
  using namespace tinyattn::footprint;
  fill_all();
  const unsigned stack = painted_stack([] { attend(layer, x, out, workspace); });
  print("scratch", sizeof workspace);
  print("stack", stack);
  print("crc", crc_of_output());
  return 0;
}
