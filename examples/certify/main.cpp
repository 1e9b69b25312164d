// SPDX-License-Identifier: MIT
//
// Prints the line on a board of ports/boards, or on this machine. -DTINYATTN_CHIP='"nRF51822"' for a chip whose debugger has semihosting:
// without it the board is QEMU's.
#include "board.h"
#include "certify.h"

#include <cstdint>

namespace {

#ifdef TINYATTN_CHIP
constexpr const char* chip_name = TINYATTN_CHIP;
constexpr bool is_emulated = false;
#else
const char* const chip_name = board_name;
constexpr bool is_emulated = __STDC_HOSTED__ == 0;
#endif

#ifndef TINYATTN_CERTIFY_BYTES
#define TINYATTN_CERTIFY_BYTES TINYATTN_CERTIFY_LEAST
#endif
alignas(16) std::uint32_t memory[TINYATTN_CERTIFY_BYTES / sizeof(std::uint32_t)];

}  // namespace

int main() {
  const tinyattn_chip chip{chip_name, is_emulated, board_print, memory, sizeof memory, nullptr, nullptr};
  return tinyattn_certify(&chip) ? 0 : 1;
}
