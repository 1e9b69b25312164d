// SPDX-License-Identifier: MIT
//
// Prints the outputs of a program for answers.py: its port; then each workload, and for each output a line of name, shape and bits.
//
//   avx2
//   dot
//   out [1]: 3f0ae148
//
// Every NaN is printed as 7fc00000: its sign and payload are not part of the answer.
#pragma once

#include "catalogue/guarded.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn::test {

// Prints outputs with `print`, a function of const char*.
template <class Print>
class Printed {
 public:
  explicit constexpr Printed(Print& print) noexcept : print_(print) {}

  template <std::size_t... Extents>
  constexpr void take(const char* name, const Tensor<float, Extents...>& tensor) noexcept {
    print_(name);
    const char* before = " [";
    ((print_(before), print_extent(Extents), before = ", "), ...);
    print_("]:");
    print_bits(tensor.data(), tensor.size());
  }

  template <class TensorM>
  constexpr void take(const char* name, const Guarded<TensorM>& output) noexcept {
    take(name, output.tensor);
  }
  constexpr void check_guards(const auto&...) const noexcept {}

 private:
  constexpr void print_extent(std::size_t extent) noexcept {
    char digits[] = "00000";
    char* first = digits + 5;
    for (; extent > 0; extent /= 10) *--first = static_cast<char>('0' + extent % 10);
    print_(first);
  }

  [[gnu::noinline]] constexpr void print_bits(const float* elements, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bits = elements[i] != elements[i] ? 0x7fc00000 : __builtin_bit_cast(std::uint32_t, elements[i]);
      char word[] = " 00000000";
      for (int digit = 0; digit < 8; ++digit) word[digit + 1] = "0123456789abcdef"[bits >> (28 - 4 * digit) & 15];
      print_(word);
    }
    print_("\n");
  }

  Print& print_;
};

}  // namespace tinyattn::test
