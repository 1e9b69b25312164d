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

// Makes calls, each with scratch that begins as NaN, and as another number. The first of them, which are committed, have a CRC.
inline bool holds(const Operation& operation, unsigned committed, unsigned calls) {
  Crc crcs[2];
  const float garbage[2] = {quiet_nan, -0x1.5p+99f};
  const auto fails = [](const char* what, unsigned number) {
    print("# call "), print(number), print(": "), print(what), print("\n");
    return false;
  };
  for (unsigned number = 1; number <= calls; ++number) {
    for (int i = 0; i < 2; ++i) {
      Call call(number, garbage[i], crcs[i]);
      operation.call(call);
      if (const char* const failure = call.failure()) return fails(failure, number);
    }
    const std::uint32_t crc = crcs[0].value();
    if (crcs[1].value() != crc) return fails("outputs depend on what scratch held", number);
    if (number != committed || crc == operation.crc) continue;
    print("# CRC "), print_hex(crc), print("\n");
    return false;
  }
  return true;
}

// Returns the status of the program.
template <Size count>
int run(const Operation (&operations)[count], unsigned committed, unsigned calls) {
  unsigned number = 0, failures = 0;
  print("1.."), print(static_cast<unsigned>(count)), print("\n");
  for (const Operation& operation : operations) {
    const bool is_right = holds(operation, committed, calls);
    failures += is_right ? 0 : 1;
    print(is_right ? "ok " : "not ok "), print(++number), print(" - "), print(operation.name), print("\n");
  }
  return failures != 0;
}

inline unsigned number_of(const char* digits) {
  unsigned number = 0;
  for (; *digits != '\0'; ++digits) number = 10 * number + static_cast<unsigned>(*digits - '0');
  return number;
}

}  // namespace tinyattn::test
