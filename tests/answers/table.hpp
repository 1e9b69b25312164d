// SPDX-License-Identifier: MIT
//
// A table of operations, computed and compared with its CRC-32s.
#pragma once

#include "operation.hpp"
#include "support/print.hpp"

namespace tinyattn::test {

// Makes each call with scratch of NaN, and with scratch of another number. Returns whether all are right, and whether the CRC after
// committed_calls is the expected one.
inline bool holds(const Operation& operation, Size largest_size, std::uint32_t expected, unsigned calls) {
  constexpr float garbage[] = {quiet_nan, -0x1.5p+99f};
  Crc crcs[2];
  bool has_crc = true;
  for (unsigned number = 1; number <= calls; ++number) {
    const char* failure = nullptr;
    for (int i = 0; i < 2 && failure == nullptr; ++i) {
      Call call(number, largest_size, garbage[i], i == 0, crcs[i]);
      operation.call(call);
      failure = call.failure();
    }
    const std::uint32_t crc = crcs[0].value();
    if (failure == nullptr && crcs[1].value() != crc) failure = "what scratch held changes the outputs";
    if (failure != nullptr) {
      print("# call ", number, ": ", failure, "\n");
      return false;
    }
    if (number != committed_calls || crc == expected) continue;
    has_crc = false;
    print("# CRC ", Hex{crc}, " of sizes up to ", largest_size, "\n");
  }
  return has_crc;
}

// Makes at least committed_calls of each operation. Returns the status of the program.
template <Size count>
int run(const Operation (&table)[count], unsigned calls) {
  unsigned number = 0, failures = 0;
  print("1..", count, "\n");
  for (const Operation& operation : table) {
    bool is_right = operation.crc_of_small == 0 || holds(operation, small_size, operation.crc_of_small, committed_calls);
    if (!is_smallest_board) is_right = holds(operation, Random::any_size, operation.crc, calls) && is_right;
    failures += is_right ? 0 : 1;
    print(is_right ? "ok " : "not ok ", ++number, " - ", operation.name);
    if (is_smallest_board && operation.crc_of_small == 0)
      print(" # SKIP it needs more RAM than this board has");
    else
      print(", ", Hex{is_smallest_board ? operation.crc_of_small : operation.crc});
    print("\n");
  }
  return failures != 0;
}

// The number of calls that a program's first argument asks for. Boards compare none with plain loops, and make no more than the CRCs cover.
inline unsigned calls_of(int argc, char** argv, unsigned by_default) {
  unsigned number = 0;
  for (const char* digit = argc > 1 ? argv[1] : ""; *digit != '\0'; ++digit) number = 10 * number + static_cast<unsigned>(*digit - '0');
  return argc > 1 ? number : has_twin ? by_default : committed_calls;
}

}  // namespace tinyattn::test
