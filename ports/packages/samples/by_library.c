/* SPDX-License-Identifier: MIT */
#include "by_library.h"

#include "layer.h"
#include "tinyattn/tinyattn.h"

static const tinyattn_layer layer = {.kind = &tinyattn_layer_floats,
                                     .d_in = d_in,
                                     .d_out = d_out,
                                     .num_heads = num_heads,
                                     .causal = true,
                                     .query = {.weight = query_weight},
                                     .key = {.weight = key_weight},
                                     .value = {.weight = value_weight},
                                     .out_proj = {.weight = output_weight, .bias = output_bias}};

static float scratch[TINYATTN_LAYER_SCRATCH(d_out, num_tokens, num_tokens)];

bool forward_by_library(float* out) { return tinyattn_forward(&layer, num_tokens, tokens, out, scratch) == TINYATTN_OK; }
