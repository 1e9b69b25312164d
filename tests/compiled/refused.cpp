// SPDX-License-Identifier: MIT
#include "tinyattn/tinyattn.h"

// What the header counts, it counts without a cast of C.
static_assert(TINYATTN_LAYER_SCRATCH(4, sizeof(int), 4) == TINYATTN_LAYER_SCRATCH(4u, 4, sizeof(int)));

#pragma GCC diagnostic ignored "-Wold-style-cast"
#include "refused.c"
