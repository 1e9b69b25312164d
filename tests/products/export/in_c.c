/* SPDX-License-Identifier: MIT
 *
 * Runs an exported layer or model in C as program.cpp does by its header: it is a LAYER, ENCODER, CONVOLUTION or DECODER. */
#include <stdint.h>
#include <stdio.h>

#include "in_c.h"

#ifdef DECODER

static float cache[IN_C_CACHE], logits[IN_C_VOCABULARY], scratch[IN_C_SCRATCH];
static uint16_t tokens[IN_C_CONTEXT_LENGTH];

static int read(size_t past, size_t count) {
  return tinyattn_decoder_forward(&in_c, past, tokens + past, count, cache, logits, scratch) == TINYATTN_OK;
}

/* Prints the logits after each token, then the tokens that follow the first four. */
int main(void) {
  for (size_t i = 0; i < IN_C_CONTEXT_LENGTH; ++i)
    if (scanf("%hu", &tokens[i]) != 1) return 1;
  for (size_t i = 0; i < IN_C_CONTEXT_LENGTH; ++i) {
    if (!read(i, 1)) return 1;
    for (int token = 0; token < IN_C_VOCABULARY; ++token) printf("%.9g\n", (double)logits[token]);
  }
  for (size_t i = 4; i < IN_C_CONTEXT_LENGTH; ++i) {
    if (!read(i == 4 ? 0 : i - 1, i == 4 ? 4 : 1) || tinyattn_argmax(IN_C_VOCABULARY, logits, &tokens[i]) != TINYATTN_OK) return 1;
    printf("%u\n", (unsigned)tokens[i]);
  }
  return 0;
}

#else

#ifdef CONVOLUTION
static float scratch[IN_C_SCRATCH(TOKENS + 8)], x[TOKENS * IN_C_IN], out[(TOKENS + 8) * IN_C_OUT];
#define OUTPUTS (tinyattn_conv1d_tokens(&in_c, TOKENS) * IN_C_OUT)
#define FORWARD tinyattn_conv1d(&in_c, TOKENS, x, out, scratch)
#elif defined(LAYER)
static float scratch[IN_C_SCRATCH], x[IN_C_CONTEXT_LENGTH * IN_C_D_IN], out[IN_C_CONTEXT_LENGTH * IN_C_D_OUT];
#define OUTPUTS (sizeof out / sizeof *out)
#define FORWARD tinyattn_forward(&in_c, IN_C_CONTEXT_LENGTH, x, out, scratch)
#else
static float scratch[IN_C_SCRATCH], x[IN_C_CONTEXT_LENGTH * IN_C_D_MODEL], out[IN_C_CONTEXT_LENGTH * IN_C_D_MODEL];
#define OUTPUTS (sizeof out / sizeof *out)
#define FORWARD tinyattn_encoder_forward(&in_c, x, IN_C_CONTEXT_LENGTH, out, scratch)
#endif

int main(void) {
  for (size_t i = 0; i < sizeof x / sizeof *x; ++i)
    if (scanf("%f", &x[i]) != 1) return 1;
  if (FORWARD != TINYATTN_OK) return 1;
  for (size_t i = 0; i < OUTPUTS; ++i) printf("%.9g\n", (double)out[i]);
  return 0;
}

#endif
