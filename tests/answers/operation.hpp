// SPDX-License-Identifier: MIT
//
// An operation of a table, with the CRC-32s of its first drawn calls, the same on every target.
#pragma once

#include "call.hpp"

namespace tinyattn::test {

inline constexpr Size small_size = 10;

struct Operation {
  const char* name;
  void (*call)(Call&);
  std::uint32_t crc, crc_of_small = 0;  // of all committed_calls; and with small shapes, if these fit into the smallest board
};

}  // namespace tinyattn::test
