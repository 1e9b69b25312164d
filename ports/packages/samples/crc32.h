/* SPDX-License-Identifier: MIT
 *
 * The CRC-32 (of zip and Ethernet) of the bits of floats, lowest byte first: machines that print the same one computed the same bits.
 * `before` is the CRC-32 of the floats before these, initially 0. C99 and C++11. */
#ifndef TINYATTN_SAMPLES_CRC32_H
#define TINYATTN_SAMPLES_CRC32_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t crc32(uint32_t before, const float* elements, size_t count) {
  uint32_t state = ~before;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, &elements[i], sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) {
      state ^= bits >> shift & 0xff;
      for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0xedb88320u : 0u);
    }
  }
  return ~state;
}

#endif
