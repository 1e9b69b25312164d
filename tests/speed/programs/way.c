/* SPDX-License-Identifier: MIT
 *
 * Times the layer of README.md, 64 wide, 32 tokens, 4 heads: prints the port and the microseconds
 * of a call, the least of many samples of the processor's time. */
#include <stdio.h>
#include <time.h>

#include "tinyattn/tinyattn.h"

enum { tokens = 32, width = 64, samples = 30 };

static float numbers[5][width * width], out[tokens * width];
static float scratch[TINYATTN_LAYER_SCRATCH(width, tokens, tokens)];

static const tinyattn_layer layer = {width, width, 4, true, {numbers[0], NULL}, {numbers[1], NULL}, {numbers[2], NULL}, {numbers[3], NULL}};

static void fill(void) {
  unsigned state = 1;
  for (size_t i = 0; i < sizeof numbers / sizeof(float); ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i / (width * width)][i % (width * width)] = (float)(state >> 8) * 0x1p-26f - 0.125f;
  }
}

static double microseconds(size_t calls) {
  const clock_t begin = clock();
  for (size_t i = 0; i < calls; ++i)
    if (tinyattn_forward(&layer, tokens, numbers[4], out, scratch) != TINYATTN_OK) return 0;
  return 1e6 * (double)(clock() - begin) / CLOCKS_PER_SEC / (double)calls;
}

int main(void) {
  size_t calls = 1;
  double least;
  fill();
  while ((least = microseconds(calls)) * (double)calls < 5e3) calls *= 2;
  for (int i = 0; i < samples; ++i) {
    const double sample = microseconds(calls);
    if (sample < least) least = sample;
  }
  printf("%s %.1f\n", tinyattn_port(), least);
  return 0;
}
