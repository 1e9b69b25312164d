// SPDX-License-Identifier: MIT
//
// A row of a table: one operation, named by -DTINYATTN_BENCH_OPERATION, computed by one library. A program has one row, defined in
// tinyattn.cpp or a peer's file.
#pragma once

#include <cstddef>

namespace tinyattn::bench {

struct Row {
  void (*prepare)();
  void (*once)();
  void (*repeat)(std::size_t times);
};

extern const Row row;

// Makes the compiler assume that `operands` are read and written here, so that it keeps each of several equal calls.
inline void keep(auto& operands) { asm volatile("" : : "r"(&operands) : "memory"); }

template <class Library, class Operation>
struct RowBy {
  static inline Operation operands;

  static void prepare() { operands.prepare(); }

  [[gnu::noinline]] static void once() {
    keep(operands);
    Library::compute(operands);
    keep(operands);
  }

  // Inlined into the loop, as it would be into a caller's code.
  static void repeat(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      keep(operands);
      Library::compute(operands);
    }
    keep(operands);
  }

  static constexpr Row row = {prepare, once, repeat};
};

}  // namespace tinyattn::bench
