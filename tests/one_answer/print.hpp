// SPDX-License-Identifier: MIT
//
// What the two programs print, for table.py:
//
//   workload NAME
//   output NAME EXTENT...      a tensor of its outputs, and the bits of its elements behind it
//   bits 3f800000 bf000000
//   crc 89abcdef               of all of them
//   end                        of everything
#pragma once

#include "board.h"
#include "outputs.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn::one_answer {

inline void print_word(std::uint32_t word) {
  char text[10] = " ";
  for (int i = 0; i < 8; ++i) text[i + 1] = "0123456789abcdef"[word >> (28 - 4 * i) & 15];
  board_print(text);
}

inline void print_decimal(std::size_t number) {
  char text[12] = {};
  char* first = text + 11;
  do *--first = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  *--first = ' ';
  board_print(first);
}

inline void print_heading(const Heading& heading) {
  board_print("output ");
  board_print(heading.name);
  for (std::size_t axis = 0; axis < heading.rank; ++axis) print_decimal(heading.extents[axis]);
  board_print("\nbits");
}

inline std::size_t element_count(const Heading& heading) {
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < heading.rank; ++axis) count *= heading.extents[axis];
  return count;
}

inline void print_crc(const Crc32& crc) {
  board_print("crc");
  print_word(crc.value());
  board_print("\n");
}

inline void print_name(const char* name) {
  board_print("workload ");
  board_print(name);
  board_print("\n");
}

}  // namespace tinyattn::one_answer
