// SPDX-License-Identifier: MIT
//
// The sentence of the journey and what several stages share: an embedding of three features for each token, and the
// layer whose attention weights later stages mask, drop at random and draw.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tinyattn/tinyattn.hpp"

namespace journey {

inline constexpr std::size_t num_tokens = 6;
inline constexpr std::size_t d_in = 3;
inline constexpr std::size_t d_out = 2;

inline constexpr const char* tokens[num_tokens] = {"Your", "journey", "starts", "with", "one", "step"};

// Defined in another unit, so that the compiler does not know the values: the stages compute with them at run time.
extern const tinyattn::Matrix<float, num_tokens, d_in> inputs;

// Returns a constant as a value that the compiler cannot know.
template <class T>
T at_run_time(T value) {
  asm volatile("" : : "r"(&value) : "memory");
  return value;
}

// Seeds the program's only generator, like torch.manual_seed. It is static, since its 2.5 KB are a lot for a stack.
tinyattn::Mt19937& manual_seed(std::uint32_t seed);

// Returns SelfAttention_v2 of the notes, initialized after torch.manual_seed(789).
tinyattn::SelfAttention<d_in, d_out, num_tokens> self_attention_v2();

// Returns queries @ keys.T of that layer, not yet scaled.
tinyattn::Matrix<float, num_tokens, num_tokens> scores_of_self_attention_v2();

// Returns these scores with the scores of later tokens set to -infinity.
tinyattn::Matrix<float, num_tokens, num_tokens> masked_scores_of_self_attention_v2();

// The scale of its scores.
inline constexpr float one_over_sqrt_d_k = 1.0f / tinyattn::sqrt(static_cast<float>(d_out));

}  // namespace journey
