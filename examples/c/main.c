/* SPDX-License-Identifier: MIT
 *
 * An attention layer called from C. The same source runs on the machine you sit at and as firmware, without a C library, and prints the
 * same. Fails unless the C++ headers compute the same bits. */
#include <stdint.h>

#include "board.h"
#include "layer.h"
#include "tinyattn/tinyattn.h"

static const tinyattn_layer layer = {.kind = &tinyattn_layer_floats,
                                     .d_in = d_in,
                                     .d_out = d_out,
                                     .num_heads = num_heads,
                                     .causal = true,
                                     .query = {.weight = query_weight},
                                     .key = {.weight = key_weight},
                                     .value = {.weight = value_weight},
                                     .out_proj = {.weight = output_weight, .bias = output_bias}};

static float scratch[TINYATTN_LAYER_SCRATCH(d_out, num_tokens, num_tokens)];

/* Returns the CRC-32 (of zip and Ethernet) of the bits of floats, lowest byte first. */
static uint32_t checksum(const float* elements, size_t count) {
  uint32_t state = 0xffffffff;
  for (size_t i = 0; i < count; ++i) {
    const union {
      float value;
      uint32_t bits;
    } element = {elements[i]};
    for (int shift = 0; shift < 32; shift += 8) {
      state ^= element.bits >> shift & 0xff;
      for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0xedb88320u : 0u);
    }
  }
  return ~state;
}

/* Prints a number such as " 0.1234", rounded half up. */
static void print_decimal(float x) {
  char text[] = " 0.0000";
  int32_t units = (int32_t)((x < 0 ? -x : x) * 10000.0f + 0.5f);
  if (x < 0) text[0] = '-';
  for (int i = 6; i > 0; --i) {
    if (text[i] == '.') continue;
    text[i] = (char)('0' + units % 10);
    units /= 10;
  }
  board_print(text);
}

static void print_checksum(const char* name, uint32_t value) {
  char text[] = "00000000\n";
  for (int i = 0; i < 8; ++i) text[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
  board_print(name);
  board_print(text);
}

static void print_matrix(const float* elements) {
  for (size_t i = 0; i < num_tokens; ++i)
    for (size_t j = 0; j < d_out; ++j) {
      print_decimal(elements[i * d_out + j]);
      board_print(j + 1 < d_out ? "  " : "\n");
    }
}

int main(void) {
  float out[num_tokens * d_out], expected[num_tokens * d_out];
  board_print("tinyattn from C: causal attention, two heads, six tokens\n\n");
  if (tinyattn_forward(&layer, num_tokens, tokens, out, scratch) != TINYATTN_OK) {
    board_print("the shape makes no sense\n");
    return 1;
  }
  forward_by_headers(expected);
  print_matrix(out);
  print_checksum("\ncrc32 of the library      ", checksum(out, num_tokens * d_out));
  print_checksum("crc32 of the C++ headers  ", checksum(expected, num_tokens * d_out));
  board_print("board: ");
  board_print(board_name);
  board_print(", port ");
  board_print(tinyattn_port());
  board_print("\n");
  return checksum(out, num_tokens * d_out) == checksum(expected, num_tokens * d_out) ? 0 : 1;
}
