// SPDX-License-Identifier: MIT
//
// A table of operations, each with a CRC-32 of the outputs of its first drawn calls, which every target has.
#pragma once

#include "call.hpp"
#include "support/print.hpp"

namespace tinyattn::test {

struct Operation {
  const char* name;
  void (*call)(Call&);
  std::uint32_t crc;  // of `committed` calls
};

// Makes `calls` calls, each with scratch that begins as NaN, and as another number. Only those that are committed have a CRC.
inline bool holds(const Operation& operation, unsigned long calls, unsigned long committed) {
  Crc crcs[2];
  const float garbage[2] = {quiet_nan, -0x1.5p+99f};
  for (unsigned long number = 1; number <= calls; ++number)
    for (int i = 0; i < 2; ++i) {
      Call call(number, garbage[i], crcs[i]);
      operation.call(call);
      if (const char* const failure = call.failure()) {
        print("# call "), print(static_cast<unsigned>(number)), print(": "), print(failure), print("\n");
        return false;
      }
    }
  const std::uint32_t crc = crcs[0].value();
  if (crcs[1].value() == crc && (calls != committed || crc == operation.crc)) return true;
  print("# CRC "), print_hex(crc), print("\n");
  return false;
}

// Returns the status of the program.
template <Size count>
int run(const Operation (&operations)[count], unsigned long calls, unsigned long committed) {
  int failures = 0;
  print("1.."), print(static_cast<unsigned>(count)), print("\n");
  for (const Operation& operation : operations) {
    const bool is_right = holds(operation, calls, committed);
    failures += !is_right;
    print(is_right ? "ok " : "not ok "), print(static_cast<unsigned>(&operation - operations + 1)), print(" - "), print(operation.name),
        print("\n");
  }
  return failures != 0;
}

}  // namespace tinyattn::test
