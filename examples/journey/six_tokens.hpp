// SPDX-License-Identifier: MIT
//
// The sentence of the journey and what several stages draw from it: one embedding of three features for each token, and the
// layer whose attention weights the notes mask, thin out by dropout and picture.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tinyattn/tinyattn.hpp"

namespace journey {

inline constexpr std::size_t num_tokens = 6;
inline constexpr std::size_t d_in = 3;
inline constexpr std::size_t d_out = 2;

inline constexpr const char* tokens[num_tokens] = {"Your", "journey", "starts", "with", "one", "step"};

// Defined elsewhere, out of the optimizer's sight: what the stages make of it is computed when the program runs.
extern const tinyattn::Matrix<float, num_tokens, d_in> inputs;

// The same for a value that a stage writes down itself.
template <class T>
T at_run_time(T value) {
  asm volatile("" : : "r"(&value) : "memory");
  return value;
}

// torch.manual_seed: the one generator of the program, seeded anew. It holds 2.5 KB, so it does not stand on the stack.
tinyattn::Mt19937& manual_seed(std::uint32_t seed);

// The notes' SelfAttention_v2 after torch.manual_seed(789).
tinyattn::SelfAttention<d_in, d_out, num_tokens> self_attention_v2();

// queries @ keys.T of that layer, not yet scaled.
tinyattn::Matrix<float, num_tokens, num_tokens> scores_of_self_attention_v2();

// The same with the future set to -infinity.
tinyattn::Matrix<float, num_tokens, num_tokens> masked_scores_of_self_attention_v2();

// The scale of its scores.
inline constexpr float one_over_sqrt_d_k = 1.0f / tinyattn::sqrt(static_cast<float>(d_out));

}  // namespace journey
