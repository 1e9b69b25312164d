/* SPDX-License-Identifier: MIT
 *
 * Whole models in the compiled library, for C99 and C++: a decoder that is described at run time,
 * and its parts. What tinyattn.h says of arguments holds here too. The bits are those of the C++
 * headers. Link with libtinyattn, or compile src/library.cpp and src/models.cpp. */
#ifndef TINYATTN_TINYATTN_MODELS_H
#define TINYATTN_TINYATTN_MODELS_H

#include <stdint.h>

#include "tinyattn/tinyattn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Activations, element by element, as torch.nn.functional has them. */
typedef enum tinyattn_activation {
  TINYATTN_RELU = 0,  /* x, or 0 if x is less */
  TINYATTN_GELU,      /* by erf: PyTorch's default */
  TINYATTN_GELU_TANH, /* by tanh, as GPT-2 has it */
  TINYATTN_SILU       /* x / (1 + e^-x) */
} tinyattn_activation;

/* out[i] = the activation of x[i], i < count; `out` may be x. */
TINYATTN_API tinyattn_status tinyattn_activate(tinyattn_activation activation, size_t count,
                                               const float* x, float* out);

/* With a bias torch.nn.LayerNorm, (x - mean) / sqrt(variance + epsilon) * weight + bias; without,
 * Llama's norm, x / sqrt(mean of squares + epsilon) * weight. */
typedef struct tinyattn_norm {
  const float* weight; /* [dim] */
  const float* bias;   /* [dim], or null */
  float epsilon;       /* >= 0 */
} tinyattn_norm;

/* Every row of x [rows, dim]; `out` may be x. */
TINYATTN_API tinyattn_status tinyattn_normalize(const tinyattn_norm* norm, size_t rows, size_t dim,
                                                const float* x, float* out);

/* *token = that of the largest of logits [count], the lowest on a tie; count <= 65536. A NaN counts
 * as -infinity: 0 if there is nothing else. */
TINYATTN_API tinyattn_status tinyattn_argmax(size_t count, const float* logits, uint16_t* token);

/* How a token is drawn: temperature 0 takes the most likely one, an infinite one makes all equally
 * likely that top_k leaves in; top_k = 0 and top_p = 1 leave all in, a top_p of 0 or below leaves
 * one. A temperature below 0, and a NaN, are a TINYATTN_BAD_ARGUMENT. */
typedef struct tinyattn_sampling {
  float temperature; /* >= 0 */
  size_t top_k;      /* how many of the most likely tokens stay in */
  float top_p;       /* what share of all probabilities those that stay in reach */
} tinyattn_sampling;

/* Philox4x32 with 10 rounds: a call that draws takes a stream, and moves on to the next. */
typedef struct tinyattn_philox {
  uint64_t seed, stream; /* which numbers it draws; streams of one seed are independent */
} tinyattn_philox;

/* *token = one drawn from logits [count], which are overwritten: tinyattn::sample; count <= 65536.
 * -infinity is never drawn, and a NaN counts as that: 0 if there is nothing else. */
TINYATTN_API tinyattn_status tinyattn_sample(const tinyattn_sampling* sampling, size_t count,
                                             float* logits, tinyattn_philox* generator,
                                             uint16_t* token);

/* x + attention(norm(x)), then x + feed_forward(norm(x)); or norm(x + part(x)). */
typedef struct tinyattn_block {
  tinyattn_norm attention_norm;    /* [d_model] */
  tinyattn_linear query;           /* [d_model, d_model] */
  tinyattn_linear key, value;      /* [d_model, d_model / num_heads * num_kv_heads] */
  tinyattn_linear out_proj;        /* [d_model, d_model]; without a weight there is none */
  tinyattn_norm feed_forward_norm; /* [d_model] */
  tinyattn_linear up;              /* [d_model, d_hidden] */
  tinyattn_linear gate;            /* the same; without a weight there is none */
  tinyattn_linear down;            /* [d_hidden, d_model] */
} tinyattn_block;

/* Which two features of a head rotate together, with the position of their token. */
typedef enum tinyattn_rotary {
  TINYATTN_NO_ROTARY = 0, /* none */
  TINYATTN_INTERLEAVED,   /* (0, 1), (2, 3), ... */
  TINYATTN_HALVES         /* (0, d / 2), (1, d / 2 + 1), ... */
} tinyattn_rotary;

/* A decoder shaped like GPT-2 or Llama: LanguageModel of the C++ headers. One that contradicts this
 * description, or lacks a weight that it needs, is a TINYATTN_BAD_ARGUMENT. */
typedef struct tinyattn_decoder {
  size_t vocabulary;               /* at most 65536 */
  size_t context_length;           /* the most tokens of a text */
  size_t d_model;                  /* a multiple of num_heads */
  size_t d_hidden;                 /* features between up and down */
  size_t num_layers;               /* how many blocks */
  size_t num_heads;                /* a multiple of num_kv_heads */
  size_t num_kv_heads;             /* query head h reads key head h / (num_heads / num_kv_heads) */
  tinyattn_activation activation;  /* of the hidden features */
  bool norm_first;                 /* x + part(norm(x)), else norm(x + part(x)) */
  const float* token_embedding;    /* [vocabulary, d_model] */
  const float* position_embedding; /* [context_length, d_model], or null */
  tinyattn_rotary rotary;          /* of queries and keys */
  const float* cosines;         /* [context_length, d_model / num_heads / 2]: of position p and */
  const float* sines;           /*   pair i, cos and sin of p / base^(2 i / head_dim). Heads that
                                 *   rotate have an even number of features */
  const tinyattn_block* blocks; /* [num_layers] */
  tinyattn_norm final_norm;     /* without a weight there is none */
  tinyattn_linear head;         /* [d_model, vocabulary]; without a weight it is tied to
                                 *   token_embedding, and has no bias */
} tinyattn_decoder;

/* Floats of the cache, as a constant: for static arrays. kv_width is d_model / num_heads *
 * num_kv_heads. */
#define TINYATTN_DECODER_CACHE(num_layers, kv_width, context_length) \
  (TINYATTN_SIZE(num_layers) *                                       \
   (2u * TINYATTN_SIZE(kv_width) * TINYATTN_SIZE(context_length) + TINYATTN_LANES))
/* Floats of the scratch of a call, as a constant. */
#define TINYATTN_DECODER_SCRATCH(d_model, d_hidden, context_length) \
  (3u * TINYATTN_SIZE(d_model) + TINYATTN_PADDED(context_length) + 2u * TINYATTN_SIZE(d_hidden))
/* Floats of the cache; 0 for a decoder that makes no sense. */
TINYATTN_API size_t tinyattn_decoder_cache(const tinyattn_decoder* decoder);
/* Floats of the scratch of a call; 0 for a decoder that makes no sense. */
TINYATTN_API size_t tinyattn_decoder_scratch(const tinyattn_decoder* decoder);

/* Reads the tokens that follow the `past` ones in the cache.
 *
 *   past     how many tokens the cache holds: 0 at first, then as many more as were read
 *   tokens   [num_tokens], each below decoder->vocabulary
 *   cache    [tinyattn_decoder_cache(decoder)]
 *   logits   [vocabulary]: of the token after the last one
 *   scratch  [tinyattn_decoder_scratch(decoder)]
 *
 * The same bits however a text is divided. If there are more tokens than context_length, or one is
 * unknown, nothing is written; for no tokens neither. A prompt may be given at once; its tokens are
 * read one after the other. */
TINYATTN_API tinyattn_status tinyattn_decoder_forward(const tinyattn_decoder* decoder, size_t past,
                                                      const uint16_t* tokens, size_t num_tokens,
                                                      float* cache, float* logits, float* scratch);

#ifdef __cplusplus
}
#endif

#endif
