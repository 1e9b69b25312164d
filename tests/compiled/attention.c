/* SPDX-License-Identifier: MIT
 *
 * A C program for the baseline of x86-64: prints the port that it computes with, and a checksum of every operation of the library over
 * shapes below, at and above the widths of all ports. */
#include <stdint.h>
#include <stdio.h>

#include "tinyattn/tinyattn.h"

enum { most = 70, tokens = 37, width = 36 };

static float numbers[4][most * most], results[most * most], scratch[TINYATTN_LAYER_SCRATCH(width, tokens, tokens)];
static uint32_t crc = 0xffffffff;

static void add_to_checksum(const float* elements, size_t count) {
  const unsigned char* bytes = (const unsigned char*)elements;
  for (size_t i = 0; i < count * sizeof(float); ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
}

static void fill(float* elements, uint32_t state) {
  for (size_t i = 0; i < most * most; ++i) {
    state = state * 1664525u + 1013904223u;
    elements[i] = (float)((int32_t)(state >> 8) - 0x800000) * 0x1p-23f;
  }
}

/* Counts what went wrong. */
static int products(void) {
  static const size_t sizes[] = {1, 3, 4, 7, 8, 15, 16, 17, 33, 64, 70};
  int failures = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; ++j) {
      const size_t rows = sizes[i], cols = sizes[j], inner = sizes[(i + j) % 11];
      failures += tinyattn_matmul(rows, inner, cols, numbers[0], numbers[1], results) != TINYATTN_OK;
      add_to_checksum(results, rows * cols);
      failures += tinyattn_matmul_transposed(rows, inner, cols, numbers[0], numbers[1], results) != TINYATTN_OK;
      add_to_checksum(results, rows * cols);
      failures += tinyattn_softmax(rows, cols, 0.25f, numbers[2], results) != TINYATTN_OK;
      add_to_checksum(results, rows * cols);
    }
  return failures;
}

static int layers(void) {
  const tinyattn_mask additive = {TINYATTN_ADDITIVE_MASK, true, NULL, numbers[3]};
  int failures = 0;
  for (size_t heads = 1; heads <= 4; ++heads)
    for (size_t count = 1; count <= tokens; count += 4) {
      tinyattn_layer layer = {.d_in = 20, .d_out = width, .num_heads = heads, .causal = heads != 2};
      layer.query.weight = layer.value.bias = numbers[0];
      layer.key.weight = layer.out_proj.bias = numbers[1];
      layer.value.weight = numbers[2];
      layer.out_proj.weight = heads == 3 ? NULL : numbers[3];
      failures += tinyattn_forward(&layer, count, numbers[3], results, scratch) != TINYATTN_OK;
      add_to_checksum(results, count * width);
      failures += tinyattn_cross_forward(&layer, count, 9, numbers[3], numbers[2], numbers[1], &additive, results, scratch) != TINYATTN_OK;
      add_to_checksum(results, count * width);
    }
  return failures;
}

int main(void) {
  for (uint32_t i = 0; i < 4; ++i) fill(numbers[i], i);
  const int failures = products() + layers();
  printf("%s %08x\n", tinyattn_port(), (unsigned)~crc);
  return failures;
}
