/* SPDX-License-Identifier: MIT
 *
 * The same models by their exported C++ headers, on the inputs of expected.h. */
#ifndef TINYATTN_TESTS_IN_C_HEADERS_H
#define TINYATTN_TESTS_IN_C_HEADERS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes all outputs. */
typedef void compute(float* out);

#ifdef BY_HEADERS
compute layer_by_headers, encoder_by_headers, encoder_int8_by_headers, decoder_by_headers, decoder_int8_by_headers;
#endif

#ifdef __cplusplus
}
#endif

#endif
