// SPDX-License-Identifier: MIT
//
// The stages of the journey, each in a file of its own name.
#pragma once

#include "report.hpp"
#include "six_tokens.hpp"

namespace journey {

void simple_attention(Report& report);
void trainable_weights(Report& report);
void linear_layers(Report& report);
void causal_mask(Report& report);
void dropout_of_weights(Report& report);
void heads(Report& report);
void attention_function(Report& report);
void head_splitting(Report& report);
void normal_against_causal(Report& report);
void configurations(Report& report);

// Draws both matrices of attention weights side by side, as shades and percentages.
void print_heat_maps(const tinyattn::Matrix<float, num_tokens, num_tokens>& normal,
                     const tinyattn::Matrix<float, num_tokens, num_tokens>& causal);

}  // namespace journey
