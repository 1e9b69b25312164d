// SPDX-License-Identifier: MIT
//
// Computes the layer of the example with the C++ headers, to show that the library computes the same bits.
#include "layer.h"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using Layer = tinyattn::MultiHeadAttention<tinyattn::AttentionConfig{
    .d_in = d_in, .d_out = d_out, .context_length = num_tokens, .num_heads = num_heads}>;

template <class Tensor>
void fill(Tensor& tensor, const float* elements) {
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.data()[i] = elements[i];
}

}  // namespace

void forward_by_headers(float* out) {
  Layer layer{};
  fill(layer.query.weight, query_weight);
  fill(layer.key.weight, key_weight);
  fill(layer.value.weight, value_weight);
  fill(layer.out_proj.weight, output_weight);
  fill(layer.out_proj.bias, output_bias);
  tinyattn::Matrix<float, num_tokens, d_in> x{};
  fill(x, tokens);
  const auto result = layer(x);
  for (std::size_t i = 0; i < result.size(); ++i) out[i] = result.data()[i];
}
