/* SPDX-License-Identifier: MIT */
#include "by_library.h"

#include "layer.h"
#include "tinyattn/tinyattn.h"

static const tinyattn_layer layer = {
    d_in, d_out, num_heads, true, {query_weight, NULL}, {key_weight, NULL}, {value_weight, NULL}, {output_weight, output_bias}};

static float scratch[TINYATTN_LAYER_SCRATCH(d_out, num_tokens, num_tokens)];

bool forward_by_library(float* out) { return tinyattn_forward(&layer, num_tokens, tokens, out, scratch) == TINYATTN_OK; }
