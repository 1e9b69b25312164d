/* SPDX-License-Identifier: MIT
 *
 * From C. The compiled library takes shapes as numbers and weights as arrays, which may lie in
 * flash. A layer names the kind of its weights. Scratch is yours, and its size is a macro, so that
 * it can be static. Link with libtinyattn, or compile src/library.cpp with a compiler of C++20 and
 * the rest with yours. */
#include "tinyattn/tinyattn.h"

enum { NUM_TOKENS = 4, WIDTH = 2, NUM_HEADS = 1 };

static const float identity[WIDTH * WIDTH] = {1, 0, 0, 1};
static const float nothing[WIDTH * WIDTH] = {0};

/* Queries are zeros, so that each token becomes the mean of all up to it, as in layer_by_hand.cpp.
 */
static const tinyattn_layer running_mean = {.kind = &tinyattn_layer_floats,
                                            .d_in = WIDTH,
                                            .d_out = WIDTH,
                                            .num_heads = NUM_HEADS,
                                            .causal = true,
                                            .query = {.weight = nothing},
                                            .key = {.weight = identity},
                                            .value = {.weight = identity}};

static float scratch[TINYATTN_LAYER_SCRATCH(WIDTH, NUM_TOKENS, NUM_TOKENS)];

static tinyattn_status smooth(size_t num_tokens, const float* samples, float* out) {
  return tinyattn_forward(&running_mean, num_tokens, samples, out, scratch);
}

/* --- What it shows --- */
#include "claims.h"

int main(void) {
  const float samples[NUM_TOKENS * WIDTH] = {8, 4, 0, 2, 4, 0, 0, 10};
  float out[NUM_TOKENS * WIDTH] = {0};
  claim("two tokens of four are fine", smooth(2, samples, out) == TINYATTN_OK);
  claim("the first stays as it is", out[0] == 8 && out[1] == 4);
  claim("the second is the mean of two", out[2] == 4 && out[3] == 3);
  claim("what lies after them is untouched", out[4] == 0 && out[5] == 0);
  claim("four are their mean",
        smooth(NUM_TOKENS, samples, out) == TINYATTN_OK && out[6] == 3 && out[7] == 4);
  claim("a null pointer is refused", smooth(NUM_TOKENS, NULL, out) == TINYATTN_BAD_ARGUMENT);
  return verdict();
}
