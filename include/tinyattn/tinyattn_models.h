/* SPDX-License-Identifier: MIT
 *
 * Whole models in the compiled library, for C99 and C++: a decoder and an encoder that are
 * described at run time, and their parts. The rules of tinyattn.h for arguments hold here too. The
 * bits are those of the C++ headers. Link with libtinyattn, or compile src/library.cpp. */
#ifndef TINYATTN_TINYATTN_MODELS_H
#define TINYATTN_TINYATTN_MODELS_H

#include <stdint.h>

#include "tinyattn/tinyattn_encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *token to the token of the largest of logits [count], of several the lowest; count <= 65536.
 * A NaN counts as -infinity; if all logits are -infinity, *token is 0. */
TINYATTN_API tinyattn_status tinyattn_argmax(size_t count, const float* logits, uint16_t* token);

/* How a token is drawn. Temperature 0 selects the most likely token; an infinite temperature makes
 * all tokens that top_k keeps equally likely. top_k = 0 and top_p = 1 keep all tokens; a top_p of 0
 * or below keeps one. A temperature below 0, and a NaN, are a TINYATTN_BAD_ARGUMENT. */
typedef struct tinyattn_sampling {
  float temperature; /* >= 0 */
  size_t top_k;      /* number of the most likely tokens to keep; 0: all */
  float top_p;       /* keeps the fewest of these with at least this total probability: 1 keeps
                      *   all, and 0 one; an initializer that leaves it out means 0 */
} tinyattn_sampling;

/* Philox4x32 with 10 rounds. A call that draws random numbers uses a stream, and increments it. */
typedef struct tinyattn_philox {
  uint64_t seed, stream; /* select the random numbers; streams of one seed are independent */
} tinyattn_philox;

/* Sets *token to one drawn by logits [count], as tinyattn::sample does; count <= 65536. A token
 * whose logit is -infinity or NaN is never drawn; if all are, *token is 0. Overwrites logits, but
 * not at a temperature of 0. */
TINYATTN_API tinyattn_status tinyattn_sample(const tinyattn_sampling* sampling, size_t count,
                                             float* logits, tinyattn_philox* generator,
                                             uint16_t* token);

/* The kind of a decoder's weights, those of all its linears and of the token embedding, and of its
 * cache. */
typedef struct tinyattn_decoder_kind tinyattn_decoder_kind;
/* Decoders of floats. */
TINYATTN_TABLE extern const tinyattn_decoder_kind tinyattn_decoder_floats;
/* Decoders of int8, with a cache of floats. d_model and d_hidden are at most 66,311. */
TINYATTN_TABLE extern const tinyattn_decoder_kind tinyattn_decoder_int8;
/* The same with an int8 cache, which takes about a quarter of the memory: Cache of the C++ headers
 * with .cache = Weights::int8. context_length is at most 66,311. */
TINYATTN_TABLE extern const tinyattn_decoder_kind tinyattn_decoder_int8_cache;

/* A decoder like GPT-2 or Llama: LanguageModel of the C++ headers. A decoder whose members
 * contradict the comments below, or that lacks a weight, is a TINYATTN_BAD_ARGUMENT. */
typedef struct tinyattn_decoder {
  const tinyattn_decoder_kind* kind; /* of its weights and cache */
  size_t vocabulary;                 /* at most 65536 */
  size_t context_length;             /* maximum number of tokens of a text */
  size_t d_model;                    /* a multiple of num_heads */
  size_t d_hidden;                   /* features between up and down */
  size_t num_layers;                 /* number of blocks */
  size_t num_heads;                  /* a multiple of num_kv_heads */
  size_t num_kv_heads;               /* query head h uses key head h / (num_heads / num_kv_heads) */
  tinyattn_activation activation;    /* of the hidden features */
  bool norm_first;                   /* x + part(norm(x)), else norm(x + part(x)) */
  const float* token_embedding;      /* [vocabulary, d_model] */
  const float* position_embedding;   /* [context_length, d_model], or null */
  tinyattn_rotary rotary;            /* how queries and keys rotate */
  const float* cosines;         /* [context_length, d_model / num_heads / 2]: of position p and */
  const float* sines;           /*   pair i, cos and sin of p / base^(2 i / head_dim). Heads that
                                 *   rotate have an even number of features */
  const tinyattn_block* blocks; /* [num_layers] */
  tinyattn_norm final_norm;     /* no norm if its weight is null */
  tinyattn_linear head;         /* [d_model, vocabulary]; without weight and codes, tied to the
                                 *   token embedding, without a bias */
  const uint8_t* token_codes;   /* a token_embedding of int8, as codes and scales of a linear: */
  const float* token_scales;    /*   [vocabulary, d_model rounded up to 16s] and [vocabulary] */
  const uint64_t*
      speeds;    /* [d_model / num_heads / 2]: with a window, in place of cosines and sines:
                  *   the angle of pair i at position p is p * speeds[i] / 2^64 turns */
  size_t window; /* 0: a token attends to all tokens before it. Else to itself and the
                  *   window - 1 before it, and the cache holds `window` tokens: texts
                  *   have no end, unless positions are a table */
} tinyattn_decoder;

/* The size of the cache in floats, as a constant for static arrays. kv_width is num_kv_heads *
 * (d_model / num_heads). With a window it is the context_length here and below. */
#define TINYATTN_DECODER_CACHE(num_layers, kv_width, context_length) \
  (TINYATTN_SIZE(num_layers) *                                       \
   (2u * TINYATTN_SIZE(kv_width) * TINYATTN_SIZE(context_length) + TINYATTN_LANES))
/* The size of an int8 cache in words of 4 bytes, as a constant for static arrays of uint32_t.
 * head_dim is d_model / num_heads. */
#define TINYATTN_INT8_CACHE(num_layers, num_kv_heads, head_dim, context_length) \
  (TINYATTN_SIZE(num_layers) * TINYATTN_SIZE(num_kv_heads) *                    \
   (TINYATTN_SIZE(context_length) * TINYATTN_EIGHTS(head_dim) / 4u +            \
    TINYATTN_SIZE(head_dim) * TINYATTN_EIGHTS(context_length) / 4u +            \
    (TINYATTN_SIZE(context_length) + 1u) / 2u))
/* The scratch of a call in floats, as a constant for static arrays. `scores` is the context_length;
 * with a window TINYATTN_WINDOW_SCORES(window, head_dim, num_heads / num_kv_heads). With int8
 * weights add TINYATTN_INTEGERS(1, the larger of d_model and d_hidden). */
#define TINYATTN_DECODER_SCRATCH(d_model, d_hidden, scores) \
  (2u * TINYATTN_SIZE(d_model) +                            \
   TINYATTN_MORE(TINYATTN_SIZE(d_model) + TINYATTN_PADDED(scores), 2u * TINYATTN_SIZE(d_hidden)))
/* What an int8 cache, with int8 weights, adds in place of TINYATTN_INTEGERS. `scores` above is then
 * 0, with a window head_dim; `inputs` is the larger of d_model and d_hidden. */
#define TINYATTN_CACHE_INTEGERS(inputs, head_dim, context_length) \
  TINYATTN_MORE(TINYATTN_INTEGERS(1u, inputs),                    \
                TINYATTN_EIGHTS(head_dim) + 2u + TINYATTN_EIGHTS(context_length))
/* Returns the size of the cache in floats, or words of 4 bytes; 0 if the sizes of the decoder are
 * invalid, or more than int8 takes. */
TINYATTN_API size_t tinyattn_decoder_cache(const tinyattn_decoder* decoder);
/* Returns the scratch of a call in floats; 0 likewise. */
TINYATTN_API size_t tinyattn_decoder_scratch(const tinyattn_decoder* decoder);

/* Adds tokens to the cache, after the `past` tokens that it holds.
 *
 *   past     number of tokens that were read: 0 at first, then the sum of num_tokens so far. With a
 *            window, a multiple of the window may be subtracted from more than that, where
 *            positions have no end
 *   tokens   [num_tokens], each below decoder->vocabulary
 *   cache    [tinyattn_decoder_cache(decoder)], of floats or words, aligned to 4 bytes
 *   logits   [vocabulary]: of the token after the last one
 *   scratch  [tinyattn_decoder_scratch(decoder)]
 *
 * The bits are the same however a text is divided into calls. Writes nothing if there are no
 * tokens, more than there are positions, or one that is not below the vocabulary. Positions end at
 * context_length; with a window those of `speeds` at 2^28, and without positions nothing ends. A
 * prompt may be passed in one call, which processes one token after the other. */
TINYATTN_API tinyattn_status tinyattn_decoder_forward(const tinyattn_decoder* decoder, size_t past,
                                                      const uint16_t* tokens, size_t num_tokens,
                                                      void* cache, float* logits, float* scratch);

/* A tokenizer: text to tokens, and back. tokenizer_for_c.hpp makes one of a constant that the
 * exporter wrote; a program may as well write the two functions itself. */
typedef struct tinyattn_tokenizer {
  size_t vocabulary; /* number of different tokens */
  /* Appends the tokens of `size` bytes of text to tokens [room], after the first *count, and moves
   * *count on: Tokenizer::encode of the C++ headers, with its errors, and TINYATTN_BAD_ARGUMENT. */
  tinyattn_status (*encode)(const char* text, size_t size, uint16_t* tokens, size_t room,
                            size_t* count);
  /* Returns the bytes of a token, and sets *size to their number: 0 for one that is no text. */
  const char* (*piece)(uint16_t token, size_t* size);
} tinyattn_tokenizer;

/* A text: what writes it, and what was read of it. */
typedef struct tinyattn_text {
  const tinyattn_decoder* decoder;     /* computes the logits */
  const tinyattn_tokenizer* tokenizer; /* has the decoder's vocabulary; `encode` is not called */
  void* cache;                         /* [tinyattn_decoder_cache(decoder)], aligned to 4 bytes */
  float* logits;                       /* [vocabulary]: of the token after the last that was read */
  float* scratch;                      /* [tinyattn_decoder_scratch(decoder)] */
  size_t past;               /* number of tokens that were read, 0 at first. If nothing ends, a
                              *   multiple of the window is subtracted before it becomes too large */
  tinyattn_philox generator; /* draws the tokens, each by a stream */
} tinyattn_text;

/* How a text is continued, and when it ends. */
typedef struct tinyattn_generation {
  tinyattn_sampling sampling; /* how a token is drawn */
  size_t max_tokens;          /* maximum number of tokens that are drawn; 0: there is none */
  bool has_stop;              /* whether a token ends the text */
  uint16_t stop;              /* this token, which counts only if has_stop; it is not put out */
} tinyattn_generation;

/* Why a text ended. */
typedef enum tinyattn_generation_end {
  TINYATTN_END_STOP_TOKEN = 0, /* the stop token was drawn */
  TINYATTN_END_MAX_TOKENS,     /* max_tokens were drawn */
  TINYATTN_END_CONTEXT_FULL,   /* there is no room for the prompt, or for another token */
  TINYATTN_END_BY_CALLER,      /* `put` returned false */
  TINYATTN_END_UNKNOWN_TOKEN   /* a token of the prompt is not below the vocabulary; nothing was
                                *   read */
} tinyattn_generation_end;

/* What a call of tinyattn_generate did. */
typedef struct tinyattn_generation_result {
  tinyattn_generation_end end; /* why the text ended */
  size_t num_tokens;           /* how many tokens were drawn, the stop token among them */
} tinyattn_generation_result;

/* Takes the next `size` bytes of a text, whole characters of UTF-8, and returns whether to go on.
 * `context` is what the caller of tinyattn_generate passed. */
typedef bool (*tinyattn_put)(void* context, const char* text, size_t size);

/* Reads a prompt, tokens [num_tokens] that follow those that were read, and continues it:
 * `generate` of the C++ headers, with the same text. Without a prompt it goes on after the last
 * token, whose logits text->logits must hold.
 *
 * Passes the text to put(context, ...) as it comes; a byte that is part of no character is passed
 * on as it is. Each token that is drawn is read before the call ends, so that a conversation goes
 * on with the next prompt, and text->logits are those after the last one. Without a window the
 * context may become full: nothing is read again.
 *
 * Sets *result, and returns TINYATTN_OK, whatever ends the text. A tokenizer with another
 * vocabulary than the decoder, and a sampling that tinyattn_sample refuses, are a
 * TINYATTN_BAD_ARGUMENT. */
TINYATTN_API tinyattn_status tinyattn_generate(tinyattn_text* text,
                                               const tinyattn_generation* options,
                                               const uint16_t* prompt, size_t num_tokens,
                                               tinyattn_put put, void* context,
                                               tinyattn_generation_result* result);

#ifdef __cplusplus
}
#endif

#endif
