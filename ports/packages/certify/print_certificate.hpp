// SPDX-License-Identifier: MIT
//
// Prints the line of a chip, in the least memory. With more, groups of calls have larger shapes: -DTINYATTN_CERTIFY_BYTES=65536.
#pragma once

#include <cstdint>
#include <cstdio>

#include "certify.h"

#ifndef TINYATTN_CERTIFY_BYTES
#define TINYATTN_CERTIFY_BYTES TINYATTN_CERTIFY_LEAST
#endif

inline void print_by_printf(const char* text) { std::printf("%s", text); }

// Returns whether every call was accepted and kept to its memory. Without a counter, the core's own is used.
inline bool print_certificate(const char* chip, const char* counter = nullptr, std::uint32_t (*cycles)() = nullptr,
                              void (*print)(const char*) = print_by_printf) {
  alignas(16) static std::uint32_t memory[TINYATTN_CERTIFY_BYTES / sizeof(std::uint32_t)];
  const tinyattn_chip described{chip, 0, print, memory, sizeof memory, counter, cycles};
  return tinyattn_certify(&described) != 0;
}
