/* SPDX-License-Identifier: MIT
 *
 * Blocks of a transformer in the compiled library, for C99 and C++: their parts, and an encoder
 * that is described at run time. tinyattn_models.h includes this, and has the rest. */
#ifndef TINYATTN_TINYATTN_ENCODER_H
#define TINYATTN_TINYATTN_ENCODER_H

#include "tinyattn/activation_list.h"
#include "tinyattn/tinyattn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Activations, element by element, as in torch.nn.functional: TINYATTN_RELU and the others of
 * activation_list.h. */
typedef enum tinyattn_activation {
  TINYATTN_ACTIVATIONS(TINYATTN_ENUMERATOR_OF_C)
} tinyattn_activation;

/* out[i] = the activation of x[i], i < count; `out` may be x. */
TINYATTN_API tinyattn_status tinyattn_activate(tinyattn_activation activation, size_t count,
                                               const float* x, float* out);

/* A norm. With a bias it is torch.nn.LayerNorm, (x - mean) / sqrt(variance + epsilon) * weight +
 * bias; without, RMS norm as in Llama, x / sqrt(mean of squares + epsilon) * weight. */
typedef struct tinyattn_norm {
  const float* weight; /* [dim] */
  const float* bias;   /* [dim], or null */
  float epsilon;       /* >= 0 */
} tinyattn_norm;

/* Normalizes every row of x [rows, dim]; `out` may be x. */
TINYATTN_API tinyattn_status tinyattn_normalize(const tinyattn_norm* norm, size_t rows, size_t dim,
                                                const float* x, float* out);

/* A block. It computes x + attention(norm(x)), then x + feed_forward(norm(x)); or, without
 * norm_first, norm(x + attention(x)), then norm(x + feed_forward(x)). */
typedef struct tinyattn_block {
  tinyattn_norm attention_norm;    /* [d_model] */
  tinyattn_linear query;           /* [d_model, d_model] */
  tinyattn_linear key, value;      /* [d_model, d_model / num_heads * num_kv_heads] */
  tinyattn_linear out_proj;        /* [d_model, d_model]; no projection without weight and codes */
  tinyattn_norm feed_forward_norm; /* [d_model] */
  tinyattn_linear up;              /* [d_model, d_hidden] */
  tinyattn_linear gate;            /* the same; no gate without weight and codes */
  tinyattn_linear down;            /* [d_hidden, d_model] */
} tinyattn_block;

/* The kind of an encoder's weights: that of all its linears. */
typedef struct tinyattn_encoder_kind tinyattn_encoder_kind;
/* Encoders of floats. */
TINYATTN_TABLE extern const tinyattn_encoder_kind tinyattn_encoder_floats;
/* Encoders of int8. d_model and d_hidden are at most 66,311. */
TINYATTN_TABLE extern const tinyattn_encoder_kind tinyattn_encoder_int8;

/* Blocks one after the other, over all tokens at once, and a norm after the last: Transformer of
 * the C++ headers, torch.nn.TransformerEncoder. An encoder whose members contradict the comments
 * below, or that lacks a weight, is a TINYATTN_BAD_ARGUMENT. */
typedef struct tinyattn_encoder {
  const tinyattn_encoder_kind* kind; /* of its weights */
  size_t context_length;             /* maximum number of tokens */
  size_t d_model;                    /* features of a token; a multiple of num_heads */
  size_t d_hidden;                   /* features between up and down */
  size_t num_layers;                 /* number of blocks */
  size_t num_heads;                  /* a multiple of num_kv_heads */
  size_t num_kv_heads;            /* query head h uses key head h / (num_heads / num_kv_heads); 0:
                                   *   each has its own */
  tinyattn_activation activation; /* of the hidden features */
  bool norm_first;                /* x + part(norm(x)), else norm(x + part(x)) */
  bool causal;                    /* token i attends to tokens 0 .. i, else to all */
  const tinyattn_block* blocks;   /* [num_layers] */
  tinyattn_norm final_norm;       /* no norm if its weight is null */
  tinyattn_rotary rotary;         /* how queries and keys rotate */
  const float* cosines;           /* [context_length, d_model / num_heads / 2]: of position p and */
  const float* sines;             /*   pair i, cos and sin of p / base^(2 i / head_dim). Heads that
                                   *   rotate have an even number of features */
} tinyattn_encoder;

/* The scratch of a call with num_tokens tokens in floats, as a constant for static arrays; it
 * increases with each argument. kv_width is d_model / num_heads * num_kv_heads: d_model, if heads
 * share no keys. With int8 weights add TINYATTN_INTEGERS(num_tokens, the larger of d_model and
 * d_hidden). */
#define TINYATTN_ENCODER_SCRATCH(d_model, kv_width, d_hidden, num_tokens)                   \
  (TINYATTN_SIZE(num_tokens) * TINYATTN_SIZE(d_model) +                                     \
   TINYATTN_MORE(TINYATTN_GROUPED_LAYER_SCRATCH(d_model, kv_width, num_tokens, num_tokens), \
                 2u * TINYATTN_QUERY_ROWS(num_tokens) * TINYATTN_SIZE(d_hidden)))
/* Returns the scratch of a call with context_length tokens in floats; 0 if the sizes of the encoder
 * are invalid. */
TINYATTN_API size_t tinyattn_encoder_scratch(const tinyattn_encoder* encoder);

/* Applies all blocks to the tokens, then the norm.
 *
 *   x        [num_tokens, d_model]
 *   out      [num_tokens, d_model]   may be x; may not overlap it otherwise
 *   scratch  as much as above, for num_tokens tokens
 *
 * With 0 tokens, does nothing and returns TINYATTN_OK; with more than context_length, writes
 * nothing and returns TINYATTN_TOO_MANY_TOKENS. */
TINYATTN_API tinyattn_status tinyattn_encoder_forward(const tinyattn_encoder* encoder,
                                                      const float* x, size_t num_tokens, float* out,
                                                      float* scratch);

#ifdef __cplusplus
}
#endif

#endif
