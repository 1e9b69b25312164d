// SPDX-License-Identifier: MIT
//
// What the two programs print, for table.py:
//
//   port NAME                     unless it was the compiler that computed
//   workload NAME
//   output NAME EXTENT...         a tensor of its outputs
//   bits 3f800000 bf000000 ...    and its elements
//   crc 89abcdef                  of all its outputs; or: too large
#pragma once

#include "outputs.hpp"
#include "support/print.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn::one_answer {

using test::print;

inline void print_word(std::uint32_t word) {
  char text[10] = " ";
  for (int i = 0; i < 8; ++i) text[i + 1] = "0123456789abcdef"[word >> (28 - 4 * i) & 15];
  print(text);
}

inline void print_heading(const Heading& heading) {
  print("output ");
  print(heading.name);
  for (std::size_t axis = 0; axis < heading.rank; ++axis) {
    print(" ");
    print(static_cast<unsigned>(heading.extents[axis]));
  }
  print("\nbits");
}

inline std::size_t element_count(const Heading& heading) {
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < heading.rank; ++axis) count *= heading.extents[axis];
  return count;
}

inline void print_crc(const Crc32& crc) {
  print("crc");
  print_word(crc.value());
  print("\n");
}

inline void print_name(const char* name) {
  print("workload ");
  print(name);
  print("\n");
}

}  // namespace tinyattn::one_answer
