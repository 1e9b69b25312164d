/* SPDX-License-Identifier: MIT
 *
 * Computes the drawn calls of tests/answers on a chip, counts the cycles of a few kernels, and prints both as one line, which read.py
 * reads. For C99 and any C++. */
#ifndef TINYATTN_CERTIFY_H
#define TINYATTN_CERTIFY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* With the least memory the shapes are small; groups of calls that fit into more of it have any shapes, up to the most. */
enum { TINYATTN_CERTIFY_LEAST = 10 * 1024, TINYATTN_CERTIFY_MOST = 512 * 1024 };

typedef struct {
  const char* chip; /* its name, or the board's, for the table of chips */
  int is_emulated;
  void (*print)(const char* text);
  uint32_t* memory; /* 16-byte aligned */
  size_t bytes;     /* of the memory */
  /* A counter of cycles, and its name; without a name the core's own is used, if it has one: counter.hpp. */
  const char* counter;
  uint32_t (*cycles)(void);
} tinyattn_chip;

/* Returns whether every call was accepted and kept to its memory; read.py compares the bits. */
int tinyattn_certify(const tinyattn_chip* chip);

#ifdef __cplusplus
}
#endif

#endif
