// SPDX-License-Identifier: MIT
//
// A row of a table: one operation, computed by one library. Each is an object of its own in the program, compiled from tinyattn.cpp or a
// peer with -DTINYATTN_BENCH_OPERATION and -DTINYATTN_BENCH_NAME.
#pragma once

#include "operations.hpp"

#include <cstddef>

namespace tinyattn::bench {

struct Row {
  const char* name;
  void (*prepare)();
  void (*once)();
  void (*repeat)(std::size_t times);
  Row* next;
};

// All rows that the program was linked with.
inline Row* rows = nullptr;

// Tells the compiler that `operands` may be read and written here, so that it makes each of several equal calls.
inline void keep(auto& operands) { asm volatile("" : : "r"(&operands) : "memory"); }

template <class Library, class Operation>
struct RowOf {
  static inline Operation operands;

  static void prepare() { operands.prepare(); }

  [[gnu::noinline]] static void once() {
    keep(operands);
    Library::compute(operands);
    keep(operands);
  }

  // Inlined into the loop, as into a caller's code.
  static void repeat(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      keep(operands);
      Library::compute(operands);
    }
    keep(operands);
  }

  explicit RowOf(const char* name) {
    static Row row;
    row = {name, prepare, once, repeat, rows};
    rows = &row;
  }
};

}  // namespace tinyattn::bench

// Registers a row, at the end of a library's file.
#define TINYATTN_BENCH_ROW_BY(Library) const tinyattn::bench::RowOf<Library, TINYATTN_BENCH_OPERATION> row(TINYATTN_BENCH_NAME)
