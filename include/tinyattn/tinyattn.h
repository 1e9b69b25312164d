/* SPDX-License-Identifier: MIT
 *
 * The compiled library, libtinyattn, for C99 and for whatever can call C: the kernels of tinyattn
 * with shapes that are known at run time. The bits are those of the C++ headers, on every target.
 *
 * All matrices are row-major arrays of float without gaps. Nothing is allocated: the caller owns
 * the scratch, whose size is counted in floats. A call returns TINYATTN_BAD_ARGUMENT, and leaves
 * the output as it is, for sizes that no memory holds, for a null pointer where an array is needed,
 * a scale that is not >= 0, an unknown kind of mask, and an `out` that is the input but may not be.
 * Calls share nothing but their arguments, so that several threads may call at the same time. */
#ifndef TINYATTN_TINYATTN_H
#define TINYATTN_TINYATTN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tinyattn/scratch.h"
#include "tinyattn/version.h"

/* As in port/compiler.hpp, which C does not include. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__)
#error \
    "tinyattn computes the same bits on every target, which -ffast-math forbids: compile without -ffast-math and its parts"
#endif

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error \
    "tinyattn lets NaN and infinity through, which -ffinite-math-only (a part of -ffast-math) forbids: compile without it"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TINYATTN_API) /* by src/library.cpp */
#elif defined(__GNUC__) && !defined(_WIN32)
#define TINYATTN_API __attribute__((visibility("default"), warn_unused_result))
#define TINYATTN_TABLE __attribute__((visibility("default")))
#else
#define TINYATTN_API
#define TINYATTN_TABLE
#endif

/* What a call returns. After an error all outputs are as they were. */
typedef enum tinyattn_status {
  TINYATTN_OK = 0,          /* outputs are written */
  TINYATTN_BAD_ARGUMENT,    /* invalid arguments */
  TINYATTN_TOO_MANY_TOKENS, /* tinyattn_models.h: more than the context has room for */
  TINYATTN_UNKNOWN_TOKEN    /* tinyattn_models.h: a token that is not below the vocabulary */
} tinyattn_status;

/* Which keys a query attends to. A masked key is skipped: a NaN in it does not leak. Attention
 * gives zeros for a query whose keys are all masked; a layer then gives the bias of its output
 * projection. */
typedef enum tinyattn_mask_kind {
  TINYATTN_NO_MASK = 0,         /* query i attends to all keys */
  TINYATTN_CAUSAL,              /* query i attends to keys 0 .. i */
  TINYATTN_CAUSAL_BOTTOM_RIGHT, /* query i attends to keys 0 .. i + source_tokens - tokens */
  TINYATTN_BLOCK_MASK,          /* true = masked */
  TINYATTN_KEEP_MASK,           /* true = takes part */
  TINYATTN_ADDITIVE_MASK        /* added to the scaled score; -infinity = masked */
} tinyattn_mask_kind;

/* A mask. The last three kinds have elements: [tokens, source_tokens] or, with one_row,
 * [source_tokens]. */
typedef struct tinyattn_mask {
  tinyattn_mask_kind kind; /* which keys it masks */
  bool one_row;            /* whether the elements are one row for all queries */
  const bool* flags;       /* the elements of a block or keep mask */
  const float* addends;    /* the elements of an additive mask */
} tinyattn_mask;

/* The kind of a layer's weights, as a table of functions. What has weights names their kind, so
 * that a linker takes the code of this kind into a firmware, and of no other: with
 * -ffunction-sections, -fdata-sections and -Wl,--gc-sections. Linears of floats have a weight;
 * those of int8 have codes and scales, and at most 66,311 inputs. */
typedef struct tinyattn_layer_kind tinyattn_layer_kind;
/* Layers of floats. */
TINYATTN_TABLE extern const tinyattn_layer_kind tinyattn_layer_floats;
/* Layers of int8. */
TINYATTN_TABLE extern const tinyattn_layer_kind tinyattn_layer_int8;
/* The kind of a linear's weight. */
typedef struct tinyattn_linear_kind tinyattn_linear_kind;
/* Linears of floats. */
TINYATTN_TABLE extern const tinyattn_linear_kind tinyattn_linear_floats;
/* Linears of int8. */
TINYATTN_TABLE extern const tinyattn_linear_kind tinyattn_linear_int8;
/* The kind of a convolution's weight. */
typedef struct tinyattn_convolution_kind tinyattn_convolution_kind;
/* Convolutions of floats. */
TINYATTN_TABLE extern const tinyattn_convolution_kind tinyattn_convolution_floats;
/* Convolutions of int8. */
TINYATTN_TABLE extern const tinyattn_convolution_kind tinyattn_convolution_int8;

/* x . weight + bias. Weights are floats, the transpose of PyTorch's, or int8: PyTorch's order, each
 * output `row` codes, a multiple of 16, padded with 128. Weight (i, o) is then (codes[o * row + i]
 * - 128) * scales[o]. */
typedef struct tinyattn_linear {
  const float* weight;  /* [in, out] */
  const float* bias;    /* [out], or null */
  const uint8_t* codes; /* [out, in rounded up to 16s], aligned to 4 bytes */
  const float* scales;  /* [out] */
} tinyattn_linear;

/* torch.nn.Conv1d on the transpose, with groups and a dilation of 1: a token is a row here. Row
 * k * in + c of the weight has the weights of feature c of the kernel's token k for all outputs; a
 * row of codes has them in that order for one output. */
typedef struct tinyattn_convolution {
  const tinyattn_convolution_kind* kind; /* of the linear */
  size_t in;                             /* features of a token */
  size_t out;                            /* features of a token of the result */
  size_t kernel;                         /* how many tokens a token of the result is made of */
  size_t stride;                         /* how many tokens later the next one begins; at least 1 */
  size_t padding;                        /* tokens of zeros before and after x; < kernel */
  tinyattn_linear linear;                /* [kernel * in, out] */
} tinyattn_convolution;

/* Which two features of a head rotate together, with the position of their token. */
typedef enum tinyattn_rotary {
  TINYATTN_NO_ROTARY = 0, /* none */
  TINYATTN_INTERLEAVED,   /* (0, 1), (2, 3), ... */
  TINYATTN_HALVES         /* (0, d / 2), (1, d / 2 + 1), ... */
} tinyattn_rotary;

/* Multi-head attention, section 3.2.2 of Vaswani et al., "Attention Is All You Need", 2017. Head h
 * reads d_out / num_heads columns of the queries, keys and values, from column
 * h * (d_out / num_heads) on. Members that are left out of an initializer are 0 or null. */
typedef struct tinyattn_layer {
  const tinyattn_layer_kind* kind;   /* of all linears */
  size_t d_in;                       /* features of a token */
  size_t d_out;                      /* features of all heads together; a multiple of num_heads */
  size_t num_heads;                  /* at least 1 */
  bool causal;                       /* query i attends to keys 0 .. i */
  tinyattn_linear query, key, value; /* [d_in, d_out]; of keys and values [d_in, kv_width], which
                                      *   is d_out / num_heads * num_kv_heads */
  tinyattn_linear out_proj;          /* [d_out, d_out]; no projection without weight and codes */
  size_t num_kv_heads;    /* query head h uses key head h / (num_heads / num_kv_heads); 0: each
                           *   has its own. Divides num_heads */
  tinyattn_rotary rotary; /* how queries and keys rotate, from position 0 on */
  const float* cosines;   /* [tokens or source_tokens, d_out / num_heads / 2]: of position p and */
  const float* sines;     /*   pair i, cos and sin of p / base^(2 i / head_dim). Heads that rotate
                           *   have an even number of features */
} tinyattn_layer;

/* The scratch of tinyattn_attention, in floats: static float scratch[TINYATTN_ATTENTION_SCRATCH(32,
 * 32)], or by this function, which returns 0 for sizes that no memory holds. */
TINYATTN_API size_t tinyattn_attention_scratch(size_t tokens, size_t source_tokens);
/* The scratch of a layer, in floats: static float scratch[TINYATTN_LAYER_SCRATCH(64, 32, 32)], with
 * int8 weights TINYATTN_INTEGERS(tokens, the larger of d_in and d_out) more, or by this function,
 * which returns 0 for sizes that no memory holds, and that no layer has. If heads share keys,
 * TINYATTN_GROUPED_LAYER_SCRATCH is enough. */
TINYATTN_API size_t tinyattn_layer_scratch(const tinyattn_layer* layer, size_t tokens,
                                           size_t source_tokens);

/* The number of tokens that a convolution makes of `tokens`: (tokens + 2 * padding - kernel) /
 * stride + 1, rounded down; 0 if the kernel is longer than x and its padding, or if an argument is
 * invalid. */
TINYATTN_API size_t tinyattn_conv1d_tokens(const tinyattn_convolution* convolution, size_t tokens);

/* Returns the name of the port, that is the instruction set, that computes: "avx512", "fpu", ... On
 * x86-64 the library of Meson or CMake chooses it at the first call: the port that the environment
 * variable TINYATTN_PORT names, if the processor can run it, or else the best that it can run.
 * Elsewhere, and if src/library.cpp is compiled by hand, the compiler flags determine it. */
TINYATTN_API const char* tinyattn_port(void);

/* Returns the TINYATTN_VERSION of the headers with which the library was compiled. If a program was
 * compiled with other headers, tinyattn_version() != TINYATTN_VERSION: their structs may differ. */
TINYATTN_API int32_t tinyattn_version(void);

/* out = a . b
 *
 *   a    [rows, inner]
 *   b    [inner, cols]
 *   out  [rows, cols]   may not overlap a or b
 *
 * No size may be 0. Each element is one sequential sum of fused multiply-adds, which starts at +0
 * and takes the inner index in increasing order. */
TINYATTN_API tinyattn_status tinyattn_matmul(size_t rows, size_t inner, size_t cols, const float* a,
                                             const float* b, float* out);

/* out = a . b transposed, where b is [cols, inner]. Else as tinyattn_matmul. */
TINYATTN_API tinyattn_status tinyattn_matmul_transposed(size_t rows, size_t inner, size_t cols,
                                                        const float* a, const float* b, float* out);

/* Softmax of each row of scale * m [rows, cols]: e^(scale * (m[j] - maximum)) divided by the sum of
 * these. -infinity becomes 0, a row in which all is -infinity becomes zeros; a NaN makes its row
 * NaN. scale must be >= 0; `out` may be m. */
TINYATTN_API tinyattn_status tinyattn_softmax(size_t rows, size_t cols, float scale, const float* m,
                                              float* out);

/* The mean over tokens of x [tokens, features]: rows are added in rising order, and the sum is
 * multiplied by the float 1 / tokens. `out` is [features], and may be x. No size may be 0. */
TINYATTN_API tinyattn_status tinyattn_mean(size_t tokens, size_t features, const float* x,
                                           float* out);

/* The maximum over tokens; a NaN makes its feature NaN, and +0 is more than -0. Else as
 * tinyattn_mean. */
TINYATTN_API tinyattn_status tinyattn_largest(size_t tokens, size_t features, const float* x,
                                              float* out);

/* out = (x - mean) * inverse_deviation, feature by feature; x and out are [rows, features], mean
 * and inverse_deviation [features]. No size may be 0; `out` may be x. */
TINYATTN_API tinyattn_status tinyattn_standardize(size_t rows, size_t features, const float* x,
                                                  const float* mean, const float* inverse_deviation,
                                                  float* out);

/* A convolution over tokens: a product with rows of x that overlap.
 *
 *   x        [tokens, in]
 *   out      [tinyattn_conv1d_tokens(convolution, tokens), out]   may not overlap x
 *   scratch  [TINYATTN_CONV1D_SCRATCH(tokens of out, kernel * in)] with int8 weights, else null
 *
 * The kernel may not be longer than x and its padding. With floats each element is one sequential
 * sum, which starts at the bias, or +0, and takes tokens, then features, in rising order; products
 * with the zeros of the padding are left out. */
TINYATTN_API tinyattn_status tinyattn_conv1d(const tinyattn_convolution* convolution, size_t tokens,
                                             const float* x, float* out, float* scratch);

/* Returns 1 / sqrt(head_dim), correctly rounded: the scale of scores; 0 for 0. It is computed in
 * integers, so that no double reaches a firmware. */
TINYATTN_API float tinyattn_inverse_sqrt(size_t head_dim);

/* out = softmax(query . key transposed / sqrt(key_dim)) . value
 *
 *   query    [tokens, key_dim]
 *   key      [source_tokens, key_dim]
 *   value    [source_tokens, value_dim]
 *   mask     null for none
 *   out      [tokens, value_dim]   may not overlap the inputs
 *   scratch  [TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens)]
 *
 * No size may be 0. */
TINYATTN_API tinyattn_status tinyattn_attention(size_t tokens, size_t source_tokens, size_t key_dim,
                                                size_t value_dim, const float* query,
                                                const float* key, const float* value,
                                                const tinyattn_mask* mask, float* out,
                                                float* scratch);

/* Self-attention over `tokens` rows of x, without a mask besides layer->causal. A firmware that
 * calls only this function contains no code for masks.
 *
 *   x        [tokens, d_in]
 *   out      [tokens, d_out]   may be x if d_out <= d_in; may not overlap it otherwise
 *   scratch  [tinyattn_layer_scratch(layer, tokens, tokens)]
 *
 * With 0 tokens, does nothing and returns TINYATTN_OK. No other size may be 0. */
TINYATTN_API tinyattn_status tinyattn_forward(const tinyattn_layer* layer, size_t tokens,
                                              const float* x, float* out, float* scratch);

/* Cross-attention: queries from one input, keys and values from others. If all three inputs are the
 * same, this is self-attention with a mask.
 *
 *   query_input             [tokens, d_in]
 *   key_input, value_input  [source_tokens, d_in]
 *   mask                    in addition to layer->causal, the same for every head; null for none
 *   out                     [tokens, d_out]   may be query_input if d_out <= d_in, but no other
 *                           input unless that is query_input, too
 *   scratch                 [tinyattn_layer_scratch(layer, tokens, source_tokens)]
 *
 * source_tokens may be 0 only if tokens are. */
TINYATTN_API tinyattn_status tinyattn_cross_forward(const tinyattn_layer* layer, size_t tokens,
                                                    size_t source_tokens, const float* query_input,
                                                    const float* key_input,
                                                    const float* value_input,
                                                    const tinyattn_mask* mask, float* out,
                                                    float* scratch);

/* out = x . weight + bias.
 *
 *   x        [rows, in]
 *   out      [rows, out_features]   may not overlap x
 *   scratch  [TINYATTN_INTEGERS(rows, in)] with int8 weights, else null
 *
 * No size may be 0. */
TINYATTN_API tinyattn_status tinyattn_linear_forward(const tinyattn_linear_kind* kind,
                                                     const tinyattn_linear* linear, size_t rows,
                                                     size_t in, size_t out_features, const float* x,
                                                     float* out, float* scratch);

#ifdef __cplusplus
}
#endif

#endif
