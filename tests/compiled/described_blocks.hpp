// SPDX-License-Identifier: MIT
//
// Layers, blocks and transformers, described for the C interface.
#pragma once

#include <array>
#include <cstddef>

#include "tinyattn/language_model.hpp"
#include "tinyattn/tinyattn_models.h"

namespace tinyattn::test {

inline tinyattn_linear described(const kernel::Projection<>& projection) { return {projection.weight, projection.bias, nullptr, nullptr}; }
inline tinyattn_linear described(const kernel::Projection<kernel::Int8Weights>& projection) {
  return {nullptr, projection.bias, projection.weight.codes, projection.weight.scales};
}
inline tinyattn_linear described(const auto& linear) { return described(describe(linear)); }
inline tinyattn_norm described(const kernel::Norm& norm) { return {norm.weight, norm.bias, norm.epsilon}; }
template <BlockConfig config>
tinyattn_block described(const TransformerBlock<config>& block) {
  return {described(describe(block.attention_norm)), described(block.attention.query),    described(block.attention.key),
          described(block.attention.value),          described(block.attention.out_proj), described(describe(block.feed_forward_norm)),
          described(block.feed_forward.up),          described(block.feed_forward.gate),  described(block.feed_forward.down)};
}
// Describes the positions of an encoder or a layer.
template <AttentionConfig config>
void describe_rotary_to(auto& to) {
  if constexpr (config.rotary != Rotary::none) {
    const auto& table = detail::sinusoids<config.context_length, config.d_out / config.num_heads, config.rotary_base>;
    to.rotary = config.rotary == Rotary::halves ? TINYATTN_HALVES : TINYATTN_INTERLEAVED;
    to.cosines = table.cosines;
    to.sines = table.sines;
  }
}

// A transformer, described for the C interface.
template <TransformerConfig config>
struct EncoderInC {
  static constexpr AttentionConfig attention = config.block.attention;

  std::array<tinyattn_block, config.num_layers> blocks{};
  tinyattn_encoder encoder{};

  explicit EncoderInC(const Transformer<config>& model) {
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = described(model.blocks[i]);
    encoder.context_length = attention.context_length;
    encoder.d_model = attention.d_out;
    encoder.d_hidden = config.block.feed_forward.d_hidden;
    encoder.num_layers = config.num_layers;
    encoder.num_heads = attention.num_heads;
    encoder.num_kv_heads = attention.num_kv_heads;
    encoder.activation = static_cast<tinyattn_activation>(config.block.feed_forward.activation);
    encoder.norm_first = config.block.norm_first;
    encoder.causal = attention.causal;
    encoder.blocks = blocks.data();
    if constexpr (config.final_norm) encoder.final_norm = described(describe(model.final_norm));
    describe_rotary_to<attention>(encoder);
  }
};

}  // namespace tinyattn::test
