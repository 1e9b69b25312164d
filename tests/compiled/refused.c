/* SPDX-License-Identifier: MIT
 *
 * Arguments that make no sense: a status, and an output that stays as it was. Compiled as C99, and as C++ with everything that warns. */
#include <stdint.h>
#include <stdio.h>

#include "tinyattn/tinyattn.h"

static const float in[64] = {0};
static float out[64], scratch[TINYATTN_LAYER_SCRATCH(4, 4, 4)];
static int point;
static int failures;

static void refused(const char* name, tinyattn_status status) {
  int holds = status == TINYATTN_BAD_ARGUMENT;
  for (size_t i = 0; i < 64; ++i) holds = holds && out[i] == 42.0f;
  printf("%s %d - %s\n", holds ? "ok" : "not ok", ++point, name);
  failures += !holds;
}

static tinyattn_layer sound_layer(void) {
  tinyattn_layer layer = {3, 4, 2, true, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}};
  layer.query.weight = layer.key.weight = layer.value.weight = in;
  return layer;
}

static void refused_layers(void) {
  tinyattn_layer layer = sound_layer();
  layer.num_heads = 0;
  refused("no heads", tinyattn_forward(&layer, 4, in, out, scratch));
  layer.num_heads = 3;
  refused("d_out is no multiple of num_heads", tinyattn_forward(&layer, 4, in, out, scratch));
  layer = sound_layer();
  layer.d_in = 0;
  refused("no features", tinyattn_forward(&layer, 4, in, out, scratch));
  layer = sound_layer();
  layer.key.weight = NULL;
  refused("no weight", tinyattn_forward(&layer, 4, in, out, scratch));
  layer = sound_layer();
  refused("no layer", tinyattn_forward(NULL, 4, in, out, scratch));
  refused("no keys", tinyattn_cross_forward(&layer, 4, 0, in, in, in, NULL, out, scratch));
  refused("no scratch", tinyattn_forward(&layer, 4, in, out, NULL));
  refused("more tokens than memory", tinyattn_forward(&layer, SIZE_MAX / 8, in, out, scratch));
}

int main(void) {
  const tinyattn_mask no_flags = {TINYATTN_KEEP_MASK, false, NULL, NULL};
  const tinyattn_mask no_addends = {TINYATTN_ADDITIVE_MASK, false, NULL, NULL};
  for (size_t i = 0; i < 64; ++i) out[i] = 42.0f;
  printf("1..18\n");
  refused("no rows", tinyattn_matmul(0, 2, 2, in, in, out));
  refused("no inner size", tinyattn_matmul_transposed(2, 0, 2, in, in, out));
  refused("sizes whose product wraps", tinyattn_matmul(SIZE_MAX / 2, 2, 2, in, in, out));
  refused("no operand", tinyattn_matmul(2, 2, 2, in, NULL, out));
  refused("no columns", tinyattn_softmax(2, 0, 1.0f, in, out));
  refused("a negative scale", tinyattn_softmax(2, 2, -1.0f, in, out));
  refused("no key_dim", tinyattn_attention(2, 2, 0, 2, in, in, in, NULL, out, scratch));
  refused("a mask without flags", tinyattn_attention(2, 2, 2, 2, in, in, in, &no_flags, out, scratch));
  refused("a mask without addends", tinyattn_attention(2, 2, 2, 2, in, in, in, &no_addends, out, scratch));
  refused_layers();
  {
    const tinyattn_layer layer = sound_layer();
    const int fine = tinyattn_forward(&layer, 0, NULL, out, NULL) == TINYATTN_OK && out[0] == 42.0f &&
                     tinyattn_layer_scratch(4, SIZE_MAX, 4) == 0 && tinyattn_layer_scratch(4, 4, 4) == TINYATTN_LAYER_SCRATCH(4, 4, 4);
    printf("%s %d - 0 tokens are fine; scratch that wraps is 0\n", fine ? "ok" : "not ok", ++point);
    failures += !fine;
  }
  return failures;
}
