// SPDX-License-Identifier: MIT
#include "six_tokens.hpp"

#include <cstddef>
#include <limits>
#include <new>

namespace journey {

constinit const tinyattn::Matrix<float, num_tokens, d_in> inputs = tinyattn::matrix<float>({
    {0.43f, 0.15f, 0.89f},  // Your
    {0.55f, 0.87f, 0.66f},  // journey
    {0.57f, 0.85f, 0.64f},  // starts
    {0.22f, 0.58f, 0.33f},  // with
    {0.77f, 0.25f, 0.10f},  // one
    {0.05f, 0.80f, 0.55f},  // step
});

tinyattn::Mt19937& manual_seed(std::uint32_t seed) {
  alignas(tinyattn::Mt19937) static std::byte memory[sizeof(tinyattn::Mt19937)];
  return *new (memory) tinyattn::Mt19937(seed);
}

tinyattn::SelfAttention<d_in, d_out, num_tokens> self_attention_v2() {
  tinyattn::SelfAttention<d_in, d_out, num_tokens> layer{};
  initialize(layer, manual_seed(789));
  return layer;
}

tinyattn::Matrix<float, num_tokens, num_tokens> scores_of_self_attention_v2() {
  const auto layer = self_attention_v2();
  return matmul_transposed(layer.query(inputs), layer.key(inputs));
}

tinyattn::Matrix<float, num_tokens, num_tokens> masked_scores_of_self_attention_v2() {
  const auto future = triu(tinyattn::ones<bool, num_tokens, num_tokens>(), 1);
  return masked_fill(scores_of_self_attention_v2(), future, -std::numeric_limits<float>::infinity());
}

}  // namespace journey
