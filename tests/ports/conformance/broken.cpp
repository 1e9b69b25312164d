// SPDX-License-Identifier: MIT
//
// Ports that break the contract in one operation each: drawn calls must find every one.
#include "answers/library.hpp"
#include "answers/table.hpp"

using namespace tinyattn::test;

namespace {

#define NAME(name) name,
constexpr const char* mutants[] = {TINYATTN_MUTANTS(NAME)};
#undef NAME

// Whether an operation differs from plain loops, or writes outside of its outputs.
bool is_found() {
  for (const Operation& operation : operations)
    if (!holds(operation, Random::any_size, operation.crc, committed_calls)) return true;
  return false;
}

}  // namespace

int main() {
  unsigned number = 0, failures = 0;
  print("1.."), print(static_cast<unsigned>(std::size(mutants))), print("\n");
  for (const char* const its_mutant : mutants) {
    mutant = its_mutant;
    const bool is_right = is_found() == (its_mutant != no_mutant);
    failures += is_right ? 0 : 1;
    print(is_right ? "ok " : "not ok "), print(++number), print(" - "), print(its_mutant), print("\n");
  }
  return failures != 0;
}
