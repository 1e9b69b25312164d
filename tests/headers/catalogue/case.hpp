// SPDX-License-Identifier: MIT
//
// Runs a case in memory that was filled with garbage, or in the compiler.
#pragma once

#include "draw.hpp"
#include "guarded.hpp"

#include <cstddef>
#include <new>

namespace tinyattn::test {

// The memory that holds a case at run time.
#if defined(MEMORY_BYTES)
inline constexpr std::size_t memory_bytes = MEMORY_BYTES;
#elif __STDC_HOSTED__
inline constexpr std::size_t memory_bytes = 512 * 1024;
#elif defined(__ARM_ARCH_6M__)
inline constexpr std::size_t memory_bytes = 7 * 1024;
#else
inline constexpr std::size_t memory_bytes = 128 * 1024;
#endif
alignas(64) inline std::byte memory[memory_bytes];

inline constexpr std::byte garbage[] = {std::byte{0xff}, std::byte{0x5a}};  // bytes of a NaN, and of 1.5e16f

// Constructs a case in memory that holds garbage wherever the case initializes nothing, and calls it. `outputs` takes its results; for a
// case that compares by itself it is a Check.
template <class Case>
[[gnu::noinline]] void compute(auto& outputs, std::byte held = garbage[0]) {
  static_assert(sizeof(Case) <= memory_bytes, "a case that does not fit is not computed");
  for (std::size_t i = 0; i < sizeof(Case); ++i) memory[i] = held;
  Draw draw;
  (*new (memory) Case)(draw, outputs);
}
template <class Case>
constexpr void compute_in_the_compiler(auto& outputs) {
  Draw draw;
  Case one_case;
  one_case(draw, outputs);
}

template <class Case>
inline constexpr bool fits = sizeof(Case) <= memory_bytes;

// A test function for cases that compare by themselves: at run time with each kind of garbage.
template <class... Cases>
constexpr void all(Check& check) {
  if (std::is_constant_evaluated())
    (compute_in_the_compiler<Cases>(check), ...);
  else
    for (const std::byte held : garbage) (compute<Cases>(check, held), ...);
}

}  // namespace tinyattn::test
