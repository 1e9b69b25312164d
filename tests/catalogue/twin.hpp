// SPDX-License-Identifier: MIT
//
// Compares a case with its plain twin: both compute from the same inputs, in memory that was filled with NaN, and the CRCs of their bits
// must be equal.
#pragma once

#include "crc.hpp"
#include "draw.hpp"
#include "guarded.hpp"
#include "library.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace tinyattn::test {

// Takes the outputs of a case: adds their bits to a CRC, and checks their guards if there is a check.
class Outputs {
 public:
  constexpr explicit Outputs(Crc& crc, Check* check = nullptr) noexcept : crc_(&crc), check_(check) {}

  constexpr void take(const char*, const auto& tensor) noexcept { take(tensor.data(), tensor.size()); }
  template <class TensorM>
  constexpr void take(const char* name, const Guarded<TensorM>& output) noexcept {
    take(name, output.tensor);
    check_guards(output);
  }
  constexpr void check_guards(const auto&... guarded) noexcept {
    if (check_ != nullptr) check_->that((guarded.guards_hold() && ...));
  }

 private:
  [[gnu::noinline]] constexpr void take(const float* elements, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) crc_->add(elements[i]);
  }

  Crc* crc_;
  Check* check_;
};

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

// Computes a case in memory that holds NaN wherever the case initializes nothing.
template <class Case>
[[gnu::noinline]] void compute(auto by, auto& outputs) {
  for (std::size_t i = 0; i < sizeof(Case); ++i) memory[i] = std::byte{0xff};
  Draw draw;
  (*new (memory) Case)(draw, by, outputs);
}
template <class Case>
constexpr void compute_in_the_compiler(auto by, auto& outputs) {
  Draw draw;
  Case one_case;
  one_case(draw, by, outputs);
}

template <class Case>
inline constexpr bool fits = sizeof(Case) <= memory_bytes;

// Checks that `by` computes the bits of the twin, and adds them to a CRC. Skips a case that does not fit into this machine's memory.
template <class Case>
constexpr void check_twin(Check& check, auto by, Crc& crc) {
  using ItsTwin = std::conditional_t<by.has_weights, Twin, TwinWithoutWeights>;
  Crc of_twin = crc;
  Outputs expected(of_twin), actual(crc, &check);
  if (std::is_constant_evaluated()) {
    compute_in_the_compiler<Case>(ItsTwin{}, expected);
    compute_in_the_compiler<Case>(by, actual);
  } else if constexpr (fits<Case>) {
    compute<Case>(ItsTwin{}, expected);
    compute<Case>(by, actual);
  } else {
    return;
  }
  check.equal(crc.value(), of_twin.value());
}

// A test of a table: compares each case with its twin.
template <class... Cases>
constexpr void as_in_plain_loops(Check& check) {
  Crc crc;
  (check_twin<Cases>(check, Library{}, crc), ...);
}

}  // namespace tinyattn::test
