/* SPDX-License-Identifier: MIT
 *
 * Arguments that make no sense, one at a time: a status, and an output that stays as it was. Compiled as C99, and as C++ with everything
 * that warns. */
#include <stdint.h>
#include <stdio.h>

#include "tinyattn/tinyattn.h"

/* As many floats as can be addressed: a matrix of so many rows has one column. */
#define MOST ((size_t)PTRDIFF_MAX / sizeof(float))
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const float in[64] = {0};
static float out[64], scratch[TINYATTN_LAYER_SCRATCH(4, 4, 4)];
static int number;
static int failures;

static void point(const char* name, int holds) {
  printf("%s %d - %s\n", holds ? "ok" : "not ok", ++number, name);
  failures += !holds;
}

static int refused(tinyattn_status status) {
  int holds = status == TINYATTN_BAD_ARGUMENT;
  for (size_t i = 0; i < COUNT(out); ++i) holds = holds && out[i] == 42.0f;
  return holds;
}

static int product_refused(const size_t* sizes, const float* a, const float* b, float* to) {
  return refused(tinyattn_matmul(sizes[0], sizes[1], sizes[2], a, b, to)) &&
         refused(tinyattn_matmul_transposed(sizes[0], sizes[1], sizes[2], a, b, to));
}

static void refused_products(void) {
  const size_t sound[3] = {2, 2, 2}, large_b[3] = {1, MOST, 2}, large_out[3] = {MOST, 1, 2};
  int none = 1, large = product_refused(large_b, in, in, out) && product_refused(large_out, in, in, out);
  for (size_t wrong = 0; wrong < COUNT(sound); ++wrong) {
    size_t sizes[3] = {2, 2, 2};
    sizes[wrong] = 0;
    none = none && product_refused(sizes, in, in, out);
    sizes[wrong] = MOST;
    large = large && product_refused(sizes, in, in, out);
  }
  point("products: a size of 0", none);
  point("products: sizes whose product wraps", large);
  point("products: no operand, no output",
        product_refused(sound, NULL, in, out) && product_refused(sound, in, NULL, out) && product_refused(sound, in, in, NULL));
}

static void refused_softmax(void) {
  point("softmax: a size of 0", refused(tinyattn_softmax(0, 2, 1.0f, in, out)) && refused(tinyattn_softmax(2, 0, 1.0f, in, out)));
  point("softmax: no input, no output",
        refused(tinyattn_softmax(2, 2, 1.0f, NULL, out)) && refused(tinyattn_softmax(2, 2, 1.0f, in, NULL)));
  point("softmax: a negative scale", refused(tinyattn_softmax(2, 2, -1.0f, in, out)));
}

/* Sizes are tokens, source tokens, key_dim and value_dim; arrays query, key and value. */
static int attention_refused(const size_t* sizes, const float* const* arrays, const tinyattn_mask* mask, float* to, float* room) {
  return refused(tinyattn_attention(sizes[0], sizes[1], sizes[2], sizes[3], arrays[0], arrays[1], arrays[2], mask, to, room));
}

static void refused_attention(void) {
  static const size_t large[][4] = {{MOST, 1, 2, 1}, {1, MOST, 2, 1},     {1, MOST, 1, 2},     {MOST, 1, 1, 2},    {MOST, 2, 1, 1},
                                    {2, 1, MOST, 1}, {MOST / 2, 1, 1, 1}, {1, MOST / 2, 1, 1}, {1, MOST / 8, 1, 1}};
  const size_t sound[4] = {2, 2, 2, 2};
  const float* const arrays[3] = {in, in, in};
  const tinyattn_mask masks[3] = {
      {TINYATTN_KEEP_MASK, false, NULL, NULL}, {TINYATTN_ADDITIVE_MASK, false, NULL, NULL}, {(tinyattn_mask_kind)7, false, NULL, NULL}};
  int holds = 1;
  for (size_t wrong = 0; wrong < COUNT(sound); ++wrong) {
    size_t sizes[4] = {2, 2, 2, 2};
    sizes[wrong] = 0;
    holds = holds && attention_refused(sizes, arrays, NULL, out, scratch);
  }
  for (size_t wrong = 0; wrong < COUNT(large); ++wrong) holds = holds && attention_refused(large[wrong], arrays, NULL, out, scratch);
  point("attention: a size of 0, sizes whose products wrap", holds);
  holds = attention_refused(sound, arrays, NULL, NULL, scratch) && attention_refused(sound, arrays, NULL, out, NULL);
  for (size_t wrong = 0; wrong < COUNT(arrays); ++wrong) {
    const float* others[3] = {in, in, in};
    others[wrong] = NULL;
    holds = holds && attention_refused(sound, others, NULL, out, scratch);
  }
  point("attention: no input, no output, no scratch", holds);
  holds = 1;
  for (size_t wrong = 0; wrong < COUNT(masks); ++wrong) holds = holds && attention_refused(sound, arrays, masks + wrong, out, scratch);
  point("attention: a mask without flags, without addends, of no kind", holds);
}

/* The layer is 3 -> 4, or of other sizes. */
static int layer_refused(size_t d_in, size_t d_out, size_t num_heads, const float* query, const float* key, const float* value) {
  const tinyattn_layer layer = {d_in, d_out, num_heads, true, {query, NULL}, {key, NULL}, {value, NULL}, {NULL, NULL}};
  return refused(tinyattn_forward(&layer, 4, in, out, scratch)) &&
         refused(tinyattn_cross_forward(&layer, 4, 4, in, in, in, NULL, out, scratch));
}

static void refused_layers(void) {
  point("layer: none", refused(tinyattn_forward(NULL, 4, in, out, scratch)));
  point("layer: no heads, heads that d_out cannot be divided into",
        layer_refused(3, 4, 0, in, in, in) && layer_refused(3, 4, 3, in, in, in));
  point("layer: no features, too many", layer_refused(0, 4, 2, in, in, in) && layer_refused(MOST, 4, 2, in, in, in) &&
                                            layer_refused(1, MOST, 1, in, in, in) && layer_refused(1, SIZE_MAX, 1, in, in, in) &&
                                            layer_refused(SIZE_MAX, SIZE_MAX, 1, in, in, in) &&
                                            layer_refused(3, SIZE_MAX - 1, 2, in, in, in));
  point("layer: no weight",
        layer_refused(3, 4, 2, NULL, in, in) && layer_refused(3, 4, 2, in, NULL, in) && layer_refused(3, 4, 2, in, in, NULL));
}

static void refused_in_place(void) {
  const tinyattn_layer layer = {3, 4, 2, true, {in, NULL}, {in, NULL}, {in, NULL}, {NULL, NULL}};
  point("layer: longer rows in place of its input", refused(tinyattn_forward(&layer, 4, out, out, scratch)) &&
                                                        refused(tinyattn_cross_forward(&layer, 4, 4, out, in, in, NULL, out, scratch)));
}

static int forward_refused(size_t tokens, size_t source_tokens, const float* const* arrays, const tinyattn_mask* mask, float* to,
                           float* room) {
  const tinyattn_layer layer = {3, 4, 2, true, {in, NULL}, {in, NULL}, {in, NULL}, {NULL, NULL}};
  return refused(tinyattn_cross_forward(&layer, tokens, source_tokens, arrays[0], arrays[1], arrays[2], mask, to, room));
}

static void refused_passes(void) {
  static const size_t lengths[][2] = {{4, 0}, {MOST, 4}, {4, MOST}, {MOST / 3, 4}, {MOST / 4, 5}, {1, MOST / 8}};
  const float* const arrays[3] = {in, in, in};
  const tinyattn_mask mask = {TINYATTN_BLOCK_MASK, true, NULL, NULL};
  int holds = 1;
  for (size_t wrong = 0; wrong < COUNT(lengths); ++wrong)
    holds = holds && forward_refused(lengths[wrong][0], lengths[wrong][1], arrays, NULL, out, scratch);
  point("forward: no keys, more tokens than memory", holds);
  holds = forward_refused(4, 4, arrays, NULL, NULL, scratch) && forward_refused(4, 4, arrays, NULL, out, NULL);
  for (size_t wrong = 0; wrong < COUNT(arrays); ++wrong) {
    const float* others[3] = {in, in, in};
    others[wrong] = NULL;
    holds = holds && forward_refused(4, 4, others, NULL, out, scratch);
  }
  point("forward: no input, no output, no scratch", holds);
  point("forward: a mask without flags", forward_refused(4, 4, arrays, &mask, out, scratch));
}

static void fine(void) {
  const tinyattn_layer layer = {3, 4, 2, true, {in, NULL}, {in, NULL}, {in, NULL}, {NULL, NULL}};
  point("0 tokens are fine", tinyattn_forward(&layer, 0, NULL, out, NULL) == TINYATTN_OK && out[0] == 42.0f &&
                                 tinyattn_cross_forward(&layer, 0, 4, NULL, in, in, NULL, out, NULL) == TINYATTN_OK && out[0] == 42.0f);
  point("scratch as the macros count it; 0 if that wraps",
        tinyattn_layer_scratch(4, 4, 4) == TINYATTN_LAYER_SCRATCH(4, 4, 4) && tinyattn_layer_scratch(4, SIZE_MAX, 4) == 0 &&
            tinyattn_layer_scratch(64, 4, 4) == TINYATTN_LAYER_SCRATCH(64, 4, 4) && tinyattn_layer_scratch(SIZE_MAX, 4, 4) == 0 &&
            tinyattn_attention_scratch(4, 4) == TINYATTN_ATTENTION_SCRATCH(4, 4) && tinyattn_attention_scratch(4, SIZE_MAX) == 0);
  point("a scale for heads of any size", tinyattn_inverse_sqrt(4) == 0.5f && tinyattn_inverse_sqrt(SIZE_MAX / 4 + 1) > 0.0f &&
                                             tinyattn_inverse_sqrt(SIZE_MAX) <= tinyattn_inverse_sqrt(SIZE_MAX - 1));
  point("the port has a name", tinyattn_port()[0] != '\0');
}

int main(void) {
  for (size_t i = 0; i < COUNT(out); ++i) out[i] = 42.0f;
  printf("1..21\n");
  refused_products();
  refused_softmax();
  refused_attention();
  refused_layers();
  refused_in_place();
  refused_passes();
  fine();
  return failures;
}
