/* SPDX-License-Identifier: MIT
 *
 * C99 calls every function of the library, with numbers whose results are exact. A port that an argument names must compute. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tinyattn/tinyattn.h"

static int differ(const float* actual, float first, float second, float third, float fourth) {
  return actual[0] != first || actual[1] != second || actual[2] != third || actual[3] != fourth;
}

/* Linears of two inputs, padded to 16, with int8 weights that are 0, and that have 1 on the diagonal. */
static union {
  uint32_t words[8];
  uint8_t codes[32];
} nothing, identity;

static tinyattn_linear linear_int8(const uint8_t* codes, const float* bias) {
  static const float scales[] = {0x1p-6f, 0x1p-6f};
  const tinyattn_linear linear = {.bias = bias, .codes = codes, .scales = scales};
  return linear;
}

/* Calls of main with int8 weights. */
static int with_int8(tinyattn_layer layer, const float* a, const float* b, const tinyattn_mask* mask) {
  static float out[4], scratch[TINYATTN_LAYER_SCRATCH(2, 2, 2) + TINYATTN_INTEGERS(2, 2)];
  const tinyattn_layer of_floats = layer;
  int failures = 0;
  memset(nothing.codes, 128, sizeof nothing.codes);
  memset(identity.codes, 128, sizeof identity.codes);
  identity.codes[0] = identity.codes[17] = 128 + 64;
  layer.kind = &tinyattn_layer_int8;
  layer.query = layer.key = linear_int8(nothing.codes, NULL);
  layer.value = linear_int8(identity.codes, NULL);
  layer.out_proj = linear_int8(identity.codes, a);
  failures +=
      tinyattn_linear_forward(&tinyattn_linear_int8, &layer.out_proj, 2, 2, 2, b, out, scratch) != TINYATTN_OK || differ(out, 6, 8, 8, 10);
  failures += tinyattn_forward(&layer, 2, b, out, scratch) != TINYATTN_OK || differ(out, 6, 8, 7, 9);
  failures += tinyattn_cross_forward(&layer, 2, 2, a, b, b, mask, out, scratch) != TINYATTN_OK || differ(out, 1, 2, 8, 10);
  failures += tinyattn_layer_scratch(&layer, 2, 2) != sizeof scratch / sizeof *scratch;
  /* A layer has weights of the kind that it names only. */
  layer.kind = &tinyattn_layer_floats;
  failures += tinyattn_forward(&layer, 2, b, out, scratch) != TINYATTN_BAD_ARGUMENT;
  layer.kind = &tinyattn_layer_int8;
  layer.out_proj = of_floats.out_proj;
  failures += tinyattn_forward(&layer, 2, b, out, scratch) != TINYATTN_BAD_ARGUMENT;
  layer = of_floats;
  layer.kind = &tinyattn_layer_int8;
  failures += tinyattn_forward(&layer, 2, b, out, scratch) != TINYATTN_BAD_ARGUMENT;
  layer = of_floats;
  layer.out_proj = linear_int8(identity.codes, a);
  failures += tinyattn_forward(&layer, 2, b, out, scratch) != TINYATTN_BAD_ARGUMENT;
  layer.out_proj = linear_int8(identity.codes + 1, a);
  failures += tinyattn_linear_forward(&tinyattn_linear_int8, &layer.out_proj, 1, 2, 1, b, out, scratch) != TINYATTN_BAD_ARGUMENT;
  return failures + differ(out, 1, 2, 8, 10);
}

/* A difference of neighbours, a mean, a maximum, and numbers that are scaled. */
static int over_tokens(const float* a, const float* b) {
  static const float difference[] = {-1, 1};
  static float out[4] = {7, 7, 7, 7}, scratch[TINYATTN_CONV1D_SCRATCH(4, 2)];
  tinyattn_convolution of_floats = {.kind = &tinyattn_convolution_floats, .in = 1, .out = 1, .kernel = 2, .stride = 1, .padding = 1};
  tinyattn_convolution of_int8 = of_floats, even = of_floats;
  of_floats.linear.weight = even.linear.weight = difference;
  int failures = tinyattn_mean(2, 2, a, out) != TINYATTN_OK || differ(out, 2, 3, 7, 7);
  failures += tinyattn_largest(2, 2, a, out) != TINYATTN_OK || differ(out, 3, 4, 7, 7);
  failures += tinyattn_standardize(2, 2, b, a, b, out) != TINYATTN_OK || differ(out, 20, 24, 30, 36);
  failures += tinyattn_conv1d_tokens(&of_floats, 3) != 4 || tinyattn_conv1d_tokens(&of_floats, 0) != 0;
  failures += tinyattn_conv1d(&of_floats, 3, a, out, NULL) != TINYATTN_OK || differ(out, 1, 1, 1, -3);
  of_int8.kind = &tinyattn_convolution_int8;
  failures += tinyattn_conv1d(&of_int8, 3, a, out, scratch) != TINYATTN_BAD_ARGUMENT;
  of_int8.linear = linear_int8(identity.codes, a);
  failures += tinyattn_conv1d(&of_int8, 3, b, out, scratch) != TINYATTN_OK || differ(out, 1, 6, 7, 8);
  even.padding = 2;
  of_int8.kind = &tinyattn_convolution_floats;
  failures += tinyattn_conv1d(&even, 3, a, out, NULL) != TINYATTN_BAD_ARGUMENT;
  failures += tinyattn_conv1d(&of_int8, 3, a, out, scratch) != TINYATTN_BAD_ARGUMENT;
  return failures + differ(out, 1, 6, 7, 8);
}

int main(int argc, char** argv) {
  static const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, zeros[4] = {0}, unit[] = {1, 0, 0, 1};
  static float out[4], scratch[TINYATTN_LAYER_SCRATCH(2, 2, 2)];
  static const bool flags[] = {true, false};
  const tinyattn_mask block = {TINYATTN_BLOCK_MASK, true, flags, NULL};
  tinyattn_layer layer = {.kind = &tinyattn_layer_floats, .d_in = 2, .d_out = 2, .num_heads = 1, .causal = true};
  layer.query.weight = layer.key.weight = zeros;
  layer.value.weight = layer.out_proj.weight = unit;
  layer.out_proj.bias = a;

  int failures = tinyattn_matmul(2, 2, 2, a, b, out) != TINYATTN_OK || differ(out, 19, 22, 43, 50);
  failures += tinyattn_matmul_transposed(2, 2, 2, a, b, out) != TINYATTN_OK || differ(out, 17, 23, 39, 53);
  failures += tinyattn_softmax(2, 2, 1, zeros, out) != TINYATTN_OK || differ(out, 0.5f, 0.5f, 0.5f, 0.5f);
  failures += tinyattn_attention(2, 2, 2, 2, zeros, a, b, NULL, out, scratch) != TINYATTN_OK || differ(out, 6, 7, 6, 7);
  failures += tinyattn_forward(&layer, 2, b, out, scratch) != TINYATTN_OK || differ(out, 6, 8, 7, 9);
  failures += tinyattn_cross_forward(&layer, 2, 2, a, b, b, &block, out, scratch) != TINYATTN_OK || differ(out, 1, 2, 8, 10);
  failures += tinyattn_attention_scratch(2, 2) != TINYATTN_ATTENTION_SCRATCH(2, 2);
  failures += tinyattn_layer_scratch(&layer, 2, 2) != sizeof scratch / sizeof *scratch;
  failures += tinyattn_inverse_sqrt(4) != 0.5f;
  failures += with_int8(layer, a, b, &block);
  failures += over_tokens(a, b);
  printf("%s\n", tinyattn_port());
  if (argc > 1 && argv[1][0] != '\0') failures += strcmp(tinyattn_port(), argv[1]) != 0;
  return failures;
}
