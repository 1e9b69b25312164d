/* SPDX-License-Identifier: MIT
 *
 * How much scratch a call takes, in floats: constants if the arguments are. One size suits every
 * instruction set of an architecture, so that a layer of the headers and the compiled library can
 * share a workspace. C99 and C++. */
#ifndef TINYATTN_SCRATCH_H
#define TINYATTN_SCRATCH_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): this is C too */

#ifdef __cplusplus
/* A count as a size_t; in C++ without a cast of C, of which it may be told to warn. */
#define TINYATTN_SIZE(count) (sizeof(char) * (count))
#else
#define TINYATTN_SIZE(count) ((size_t)(count))
#endif
/* The lesser of two counts. */
#define TINYATTN_FEWER(count, most) \
  (TINYATTN_SIZE(count) < (most) ? TINYATTN_SIZE(count) : TINYATTN_SIZE(most))

#if defined(__x86_64__) || defined(__i386__)
#define TINYATTN_LANES 16u
#define TINYATTN_BLOCK_ROWS(tokens) \
  TINYATTN_FEWER(tokens, (tokens) < 64u ? 16u : TINYATTN_FEWER((tokens) / 4u, 96u))
#define TINYATTN_QUERY_ROWS(tokens) TINYATTN_FEWER(tokens, 16u)
#else
/* Rows of scratch are whole vectors, or the fours of an FPU: of up to so many floats. */
#define TINYATTN_LANES 4u
/* So many queries are projected at a time. */
#define TINYATTN_BLOCK_ROWS(tokens) TINYATTN_FEWER(tokens, 4u)
/* So many of them attend at a time. */
#define TINYATTN_QUERY_ROWS(tokens) TINYATTN_FEWER(tokens, 4u)
#endif
/* A count of floats, padded to whole vectors. */
#define TINYATTN_PADDED(count) \
  ((TINYATTN_SIZE(count) + TINYATTN_LANES - 1u) / TINYATTN_LANES * TINYATTN_LANES)

/* Floats of an attention's scratch. It grows with both counts of tokens: what suffices for the
 * longest input suffices for all. */
#define TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens) \
  (TINYATTN_QUERY_ROWS(tokens) * TINYATTN_PADDED(source_tokens))
/* Floats of a layer's scratch, where keys and values are kv_width wide, as grouped key heads are.
 */
#define TINYATTN_GROUPED_LAYER_SCRATCH(d_out, kv_width, tokens, source_tokens)                 \
  (TINYATTN_SIZE(kv_width) * (TINYATTN_PADDED(source_tokens) + TINYATTN_SIZE(source_tokens)) + \
   TINYATTN_SIZE(d_out) * TINYATTN_BLOCK_ROWS(tokens) +                                        \
   TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens))
/* Floats of a layer's scratch. It grows with both counts of tokens. */
#define TINYATTN_LAYER_SCRATCH(d_out, tokens, source_tokens) \
  TINYATTN_GROUPED_LAYER_SCRATCH(d_out, d_out, tokens, source_tokens)

#endif
