/* SPDX-License-Identifier: MIT
 *
 * The scratch of a call, in floats, or in words of the size of a float: constant expressions if the
 * arguments are. One size is enough for every instruction set of an architecture, so that a layer
 * of the headers and the compiled library can share a workspace. C99 and C++. */
#ifndef TINYATTN_SCRATCH_H
#define TINYATTN_SCRATCH_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): this is C too */

#ifdef __cplusplus
/* Converts a count to size_t; in C++ without a C-style cast, of which -Wold-style-cast warns. */
#define TINYATTN_SIZE(count) (sizeof(char) * (count))
#else
#define TINYATTN_SIZE(count) ((size_t)(count))
#endif
/* The minimum of two counts. */
#define TINYATTN_FEWER(count, most) \
  (TINYATTN_SIZE(count) < (most) ? TINYATTN_SIZE(count) : TINYATTN_SIZE(most))
/* The maximum. */
#define TINYATTN_MORE(count, other) \
  (TINYATTN_SIZE(count) < TINYATTN_SIZE(other) ? TINYATTN_SIZE(other) : TINYATTN_SIZE(count))

/* With TINYATTN_SCRATCH_OF_BOARDS and the port `scalar` every target has the sizes of a board, so
 * that print(board) on a desk says how much RAM a board takes. There they are for sizeof alone: a
 * call of another port would write beyond them. */
#if !defined(TINYATTN_SCRATCH_OF_BOARDS) && (defined(__x86_64__) || defined(__i386__))
#define TINYATTN_LANES 16u
#define TINYATTN_BLOCK_ROWS(tokens) \
  TINYATTN_FEWER(tokens, (tokens) < 64u ? 16u : TINYATTN_FEWER((tokens) / 4u, 96u))
#define TINYATTN_QUERY_ROWS(tokens) TINYATTN_FEWER(tokens, 16u)
#else
/* Rows of scratch are padded to whole vectors, or to multiples of 4 with an FPU: this is the
 * maximum size of a vector, in floats. */
#define TINYATTN_LANES 4u
/* The maximum number of queries that are projected at a time. */
#define TINYATTN_BLOCK_ROWS(tokens) TINYATTN_FEWER(tokens, 4u)
/* The maximum number of queries whose scores are computed at a time. */
#define TINYATTN_QUERY_ROWS(tokens) TINYATTN_FEWER(tokens, 4u)
#endif
/* A count of floats, rounded up to whole vectors. */
#define TINYATTN_PADDED(count) \
  ((TINYATTN_SIZE(count) + TINYATTN_LANES - 1u) / TINYATTN_LANES * TINYATTN_LANES)

/* The scratch of attention, in floats. It increases with both token counts: scratch for the longest
 * input is enough for all. */
#define TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens) \
  (TINYATTN_QUERY_ROWS(tokens) * TINYATTN_PADDED(source_tokens))
/* The scratch of a layer, in floats. kv_width is the width of keys and values, which is less than
 * d_out if query heads share key heads. */
#define TINYATTN_GROUPED_LAYER_SCRATCH(d_out, kv_width, tokens, source_tokens)                 \
  (TINYATTN_SIZE(kv_width) * (TINYATTN_PADDED(source_tokens) + TINYATTN_SIZE(source_tokens)) + \
   TINYATTN_SIZE(d_out) * TINYATTN_BLOCK_ROWS(tokens) +                                        \
   TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens))
/* The scratch of a layer, in floats. It increases with both token counts. */
#define TINYATTN_LAYER_SCRATCH(d_out, tokens, source_tokens) \
  TINYATTN_GROUPED_LAYER_SCRATCH(d_out, d_out, tokens, source_tokens)

#if !defined(TINYATTN_SCRATCH_OF_BOARDS) &&                              \
    (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || \
     (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'))
#define TINYATTN_HEADS_AT_ONCE(group) TINYATTN_SIZE(group)
#else
/* The number of heads of a group, which share keys, that are computed together with a window: one,
 * unless a port of the architecture computes several rows at once. */
#define TINYATTN_HEADS_AT_ONCE(group) TINYATTN_SIZE(1)
#endif
/* The scores of a cache with a window, in floats. */
#define TINYATTN_WINDOW_SCORES(window, head_dim, group) \
  (TINYATTN_HEADS_AT_ONCE(group) * (2u * TINYATTN_SIZE(window) + 16u + TINYATTN_SIZE(head_dim)))

/* A count, rounded up to a multiple of 8: a row of an int8 cache. */
#define TINYATTN_EIGHTS(count) ((TINYATTN_SIZE(count) + 7u) / 8u * 8u)
/* What int8 weights add to the scratch of a call: inputs as integers, in words. `rows` is the
 * number of rows that are multiplied, `inputs` the most numbers that one has. It increases with
 * both. */
#define TINYATTN_INTEGERS(rows, inputs) \
  (TINYATTN_QUERY_ROWS(rows) * ((TINYATTN_SIZE(inputs) + 15u) / 16u * 16u + 2u))
/* The scratch of a convolution with int8 weights, of `rows` tokens of the result, each of `inputs`
 * numbers, in words: integers, and a row of floats with its padding. */
#define TINYATTN_CONV1D_SCRATCH(rows, inputs) \
  (TINYATTN_SIZE(inputs) + TINYATTN_INTEGERS(rows, inputs))

#endif
