// SPDX-License-Identifier: MIT
//
// A decoder with a cache, of the shape of llama2.c's stories260K: rotary positions, grouped key heads,
// SwiGLU, a tied head.
#pragma once

#include "tinyattn/language_model.hpp"

namespace tinyattn {

inline constexpr LanguageModelConfig stories260k{
    .vocabulary = 512,
    .transformer =
        {.block = {.attention = {.d_in = 64,
                                 .d_out = 64,
                                 .context_length = 64,
                                 .num_heads = 8,
                                 .out_bias = false,
                                 .num_kv_heads = 4,
                                 .rotary = Rotary::interleaved},
                   .feed_forward = {.d_model = 64, .d_hidden = 172, .activation = Activation::silu, .gated = true, .bias = false},
                   .normalization = Normalization::rms},
         .num_layers = 5},
    .positions = Positions::none};

}  // namespace tinyattn
