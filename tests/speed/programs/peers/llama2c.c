/* SPDX-License-Identifier: MIT
 *
 * llama2.c: run.c, or runq.c for int8, from the folder that --llama2c names, without its main, and what llama2c.cpp calls of it. */
#define TESTING
#ifdef TINYATTN_BENCH_BOARD
#include <stdio.h>
#include <stdlib.h>

/* A board has no heap, and nothing that could print. */
static void* allocate(size_t size) {
  _Alignas(64) static char heap[1500000];
  static size_t used;
  const size_t begin = used;
  used += (size + 63) / 64 * 64;
  if (used > sizeof heap) __builtin_trap();
  return heap + begin;
}
#define malloc(size) allocate(size)
#define calloc(count, size) allocate((count) * (size))
#define fprintf(...) 0
#define exit(status) __builtin_trap()
#endif
#ifdef TINYATTN_BENCH_WEIGHTS
#include "runq.c"
enum { GROUP = 64 };
#else
#include "run.c"
enum { GROUP = 0 };
#endif

#include <stdint.h>

static Transformer model;

/* In bytes, as much as memory_map_weights goes over: per layer two norms, and four matrices of attention and three of the feed-forward,
 * which are floats, or bytes with a float for each group. */
static size_t size_of_weights(const Config* c) {
  const size_t kv_dim = (size_t)(c->dim / c->n_heads * c->n_kv_heads);
  const size_t in_a_layer = 2 * (size_t)c->dim + 2 * kv_dim + 3 * (size_t)c->hidden_dim;
  const size_t in_matrices = (size_t)c->dim * ((size_t)c->vocab_size + (size_t)c->n_layers * in_a_layer);
  const size_t in_norms = (size_t)c->dim * (2 * (size_t)c->n_layers + 1);
  return in_norms * sizeof(float) +
         (GROUP != 0 ? in_matrices + in_matrices / (GROUP + !GROUP) * sizeof(float) : in_matrices * sizeof(float));
}

/* Of a shape in the order of Config, with the embedding as its head, and random weights: floats from -0.1 to 0.1; for int8, smaller ones,
 * whose bytes are weights, too. */
void llama2c_build(const int shape[7]) {
  _Static_assert(sizeof(Config) == 7 * sizeof(int), "run.c of another version");
  memcpy(&model.config, shape, sizeof(Config));
  const size_t size = size_of_weights(&model.config);
  float* const weights = malloc(size);
  if (weights == NULL) exit(EXIT_FAILURE);
  const float largest = GROUP != 0 ? 0.002f : 0.1f;
  uint32_t state = 1;
  for (size_t i = 0; i < size / sizeof(float); ++i) {
    state = state * 1664525u + 1013904223u; /* Numerical Recipes */
    weights[i] = largest * ((float)(state >> 8) / (1 << 23) - 1.0f);
  }
#ifdef TINYATTN_BENCH_WEIGHTS
  GS = GROUP;
#endif
  memory_map_weights(&model.weights, &model.config, (void*)weights, 1);
  malloc_run_state(&model.state, &model.config);
}

void llama2c_forward(int token, int position) { forward(&model, token, position); }
