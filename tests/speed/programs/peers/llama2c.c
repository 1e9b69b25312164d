/* SPDX-License-Identifier: MIT
 *
 * llama2.c: its run.c, from the folder that --llama2c names, without its main, and what llama2c.cpp calls of it. */
#define TESTING
#include "run.c"

#include <stdint.h>

static Transformer model;

/* As many as memory_map_weights goes over: per layer four matrices of attention, three of the feed-forward, two norms. */
static size_t count_weights(const Config* c) {
  const size_t kv_dim = (size_t)(c->dim / c->n_heads * c->n_kv_heads);
  const size_t in_a_row = 2 * (size_t)c->dim + 2 * kv_dim + 3 * (size_t)c->hidden_dim + 2;
  return (size_t)c->dim * ((size_t)c->vocab_size + (size_t)c->n_layers * in_a_row + 1);
}

/* Of a shape in the order of Config, with the embedding as its head, and weights from -0.1 to 0.1. */
void llama2c_build(const int shape[7]) {
  _Static_assert(sizeof(Config) == 7 * sizeof(int), "run.c of another version");
  memcpy(&model.config, shape, sizeof(Config));
  const size_t count = count_weights(&model.config);
  float* const weights = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  if (weights == NULL) exit(EXIT_FAILURE);
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u; /* Numerical Recipes */
    weights[i] = 0.2f * (float)(state >> 8) / (1 << 24) - 0.1f;
  }
  memory_map_weights(&model.weights, &model.config, weights, 1);
  malloc_run_state(&model.state, &model.config);
}

void llama2c_forward(int token, int position) { forward(&model, token, position); }
