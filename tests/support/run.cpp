// SPDX-License-Identifier: MIT
//
// Runs a table of tests and prints the Test Anything Protocol, the same on every board: no libc beyond board_print.
#include "board.h"
#include "check.hpp"
#include "print.hpp"

namespace tinyattn::test {
namespace {

// Prints a test's verdict, and where it failed.
bool report(unsigned number, const Test& test) {
  Check check;
  test.body(check);
  print(check.passed() ? "ok " : "not ok ", number, " - ", test.name, "\n");
  if (check.checks() == 0) print("# nothing was checked\n");
  if (check.failures() != 0) print("# failed checks: ", check.failures(), ", the first in line ", check.first_failed_line(), "\n");
  return check.passed();
}

}  // namespace

int run(const Test* tests, std::size_t count) {
  print("1..", count, "\n");
  bool passed = count != 0;
  for (std::size_t i = 0; i < count; ++i) passed = report(static_cast<unsigned>(i + 1), tests[i]) && passed;
  if (const unsigned bytes = board_stack_used()) print("# bytes of stack used: ", bytes, "\n");
  return passed ? 0 : 1;
}

}  // namespace tinyattn::test
