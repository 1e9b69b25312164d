/* SPDX-License-Identifier: MIT
 *
 * The layer of layer.h by the compiled library. */
#ifndef TINYATTN_SAMPLES_BY_LIBRARY_H
#define TINYATTN_SAMPLES_BY_LIBRARY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* out [num_tokens, d_out]; returns whether the shape makes sense. */
bool forward_by_library(float* out);

#ifdef __cplusplus
}
#endif

#endif
