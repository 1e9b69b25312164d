/* SPDX-License-Identifier: MIT
 *
 * A user's program in C: exits with 0 if the compiled library is there and computes, with floats and with int8 weights. */
#include <tinyattn/tinyattn.h>
#include <tinyattn/tinyattn_models.h>

static const union {
  uint8_t codes[16];
  uint32_t words[4];
} twice_the_sum = {{129, 129, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128}};

int main(void) {
  const float a[] = {1, 2, 3, 4};
  const float b[] = {5, 6, 7, 8};
  const float two = 2;
  const tinyattn_linear linear = {.codes = twice_the_sum.codes, .scales = &two};
  float out[4], scratch[TINYATTN_INTEGERS(2, 2)];
  if (tinyattn_matmul(2, 2, 2, a, b, out) != TINYATTN_OK) return 1;
  if (out[0] != 19 || out[1] != 22 || out[2] != 43 || out[3] != 50) return 2;
  if (tinyattn_linear_forward(&tinyattn_linear_int8, &linear, 2, 2, 1, a, out, scratch) != TINYATTN_OK) return 3;
  if (out[0] != 6 || out[1] != 14) return 4;
  return tinyattn_decoder_forward(NULL, 0, NULL, 1, NULL, out, scratch) != TINYATTN_BAD_ARGUMENT;
}
