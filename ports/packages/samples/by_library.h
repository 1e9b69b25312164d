/* SPDX-License-Identifier: MIT
 *
 * Computes the layer of layer.h by the compiled library. */
#ifndef TINYATTN_SAMPLES_BY_LIBRARY_H
#define TINYATTN_SAMPLES_BY_LIBRARY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes out [num_tokens, d_out]. Returns whether the library accepted the shape. */
bool forward_by_library(float* out);

#ifdef __cplusplus
}
#endif

#endif
