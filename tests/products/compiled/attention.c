/* SPDX-License-Identifier: MIT
 *
 * C99 calls functions of the library, with numbers whose results are exact; models, convolutions and int8 layers are called by what the
 * exporter writes in C. A port that an argument names must compute. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tinyattn/tinyattn.h"

static int differ(const float* actual, float first, float second, float third, float fourth) {
  return actual[0] != first || actual[1] != second || actual[2] != third || actual[3] != fourth;
}

int main(int argc, char** argv) {
  static const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, zeros[4] = {0}, unit[] = {1, 0, 0, 1};
  /* The identity as int8 weights of two inputs, padded to 16. */
  static union {
    uint32_t words[8];
    uint8_t codes[32];
  } identity;
  static const float scales[] = {0x1p-6f, 0x1p-6f};
  static float out[4], scratch[TINYATTN_LAYER_SCRATCH(2, 2, 2)], integers[TINYATTN_INTEGERS(2, 2)];
  static const bool flags[] = {true, false};
  const tinyattn_mask block = {TINYATTN_BLOCK_MASK, true, flags, NULL};
  tinyattn_layer layer = {.kind = &tinyattn_layer_floats, .d_in = 2, .d_out = 2, .num_heads = 1, .causal = true};
  layer.query.weight = layer.key.weight = zeros;
  layer.value.weight = layer.out_proj.weight = unit;
  layer.out_proj.bias = a;
  memset(identity.codes, 128, sizeof identity.codes);
  identity.codes[0] = identity.codes[17] = 128 + 64;
  const tinyattn_linear linear = {.bias = a, .codes = identity.codes, .scales = scales};

  int failures = tinyattn_matmul(2, 2, 2, a, b, out) != TINYATTN_OK || differ(out, 19, 22, 43, 50);
  failures += tinyattn_matmul_transposed(2, 2, 2, a, b, out) != TINYATTN_OK || differ(out, 17, 23, 39, 53);
  failures += tinyattn_softmax(2, 2, 1, zeros, out) != TINYATTN_OK || differ(out, 0.5f, 0.5f, 0.5f, 0.5f);
  failures += tinyattn_attention(2, 2, 2, 2, zeros, a, b, NULL, out, scratch) != TINYATTN_OK || differ(out, 6, 7, 6, 7);
  failures += tinyattn_forward(&layer, 2, b, out, scratch) != TINYATTN_OK || differ(out, 6, 8, 7, 9);
  failures += tinyattn_cross_forward(&layer, 2, 2, a, b, b, &block, out, scratch) != TINYATTN_OK || differ(out, 1, 2, 8, 10);
  failures += tinyattn_attention_scratch(2, 2) != TINYATTN_ATTENTION_SCRATCH(2, 2);
  failures += tinyattn_layer_scratch(&layer, 2, 2) != sizeof scratch / sizeof *scratch;
  failures += tinyattn_inverse_sqrt(4) != 0.5f;
  failures += tinyattn_version() != TINYATTN_VERSION;
  failures += tinyattn_linear_forward(&tinyattn_linear_int8, &linear, 2, 2, 2, b, out, integers) != TINYATTN_OK || differ(out, 6, 8, 8, 10);
  failures += tinyattn_mean(2, 2, a, out) != TINYATTN_OK || differ(out, 2, 3, 8, 10);
  failures += tinyattn_largest(2, 2, a, out) != TINYATTN_OK || differ(out, 3, 4, 8, 10);
  failures += tinyattn_standardize(2, 2, b, a, b, out) != TINYATTN_OK || differ(out, 20, 24, 30, 36);
  printf("%s\n", tinyattn_port());
  if (argc > 1 && argv[1][0] != '\0') failures += strcmp(tinyattn_port(), argv[1]) != 0;
  return failures;
}
