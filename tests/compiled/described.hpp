// SPDX-License-Identifier: MIT
//
// Language models, and their description for the C interface.
#pragma once

#include "catalogue/draw.hpp"
#include "described_blocks.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/tinyattn_models.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tinyattn::test {

inline constexpr AttentionConfig gpt_2_attention = {.d_in = 12, .d_out = 12, .context_length = 17, .num_heads = 3, .qkv_bias = true};
inline constexpr AttentionConfig llama_attention = {.d_in = 16,
                                                    .d_out = 16,
                                                    .context_length = 20,
                                                    .num_heads = 4,
                                                    .out_bias = false,
                                                    .num_kv_heads = 2,
                                                    .rotary = Rotary::halves,
                                                    .rotary_base = 500};
inline constexpr LanguageModelConfig gpt_2 = {
    .vocabulary = 11,
    .transformer = {
        .block = {.attention = gpt_2_attention, .feed_forward = {.d_model = 12, .d_hidden = 21, .activation = Activation::gelu_tanh}},
        .num_layers = 2}};
inline constexpr LanguageModelConfig llama = {
    .vocabulary = 19,
    .transformer = {.block = {.attention = llama_attention,
                              .feed_forward = {.d_model = 16, .d_hidden = 37, .activation = Activation::silu, .gated = true, .bias = false},
                              .normalization = Normalization::rms,
                              .norm_first = false},
                    .num_layers = 3,
                    .final_norm = false},
    .positions = Positions::none,
    .tied = false,
    .head_bias = true};

// The same models with int8 weights.
constexpr LanguageModelConfig with_int8(LanguageModelConfig config) {
  config.weights = config.transformer.block.attention.weights = config.transformer.block.feed_forward.weights = Weights::int8;
  return config;
}

constexpr LanguageModelConfig with_int8_cache(LanguageModelConfig config) {
  config.transformer.block.attention.cache = Weights::int8;
  return with_int8(config);
}

constexpr LanguageModelConfig with_window(LanguageModelConfig config, std::size_t window) {
  config.transformer.block.attention.window = window;
  return config;
}

template <LanguageModelConfig config>
constexpr bool is_int8 = config.weights == Weights::int8;

// A model with random weights, and its description for the C interface.
template <LanguageModelConfig config>
struct Described {
  using Model = LanguageModel<config>;
  static constexpr BlockConfig block = config.transformer.block;

  Model model = drawn<Model>(7);
  std::array<tinyattn_block, config.transformer.num_layers> blocks{};
  tinyattn_decoder decoder{};

  Described() {
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = described(model.transformer.blocks[i]);
    decoder.vocabulary = config.vocabulary;
    decoder.context_length = Model::context_length;
    decoder.d_model = Model::d_model;
    decoder.d_hidden = block.feed_forward.d_hidden;
    decoder.num_layers = blocks.size();
    decoder.num_heads = block.attention.num_heads;
    decoder.num_kv_heads = block.attention.num_kv_heads == 0 ? block.attention.num_heads : block.attention.num_kv_heads;
    decoder.activation = static_cast<tinyattn_activation>(block.feed_forward.activation);
    decoder.norm_first = block.norm_first;
    if constexpr (is_int8<config>) {
      decoder.token_codes = model.token_embedding.weight.code;
      decoder.token_scales = model.token_embedding.weight.scale;
    } else {
      decoder.token_embedding = model.token_embedding.weight.data();
    }
    if constexpr (config.positions == Positions::learned) decoder.position_embedding = model.position_embedding.weight.data();
    decoder.window = block.attention.window;
    if constexpr (block.attention.rotary != Rotary::none) {
      constexpr std::size_t head_dim = Model::Body::Block::Attention::head_dim;
      decoder.rotary = block.attention.rotary == Rotary::halves ? TINYATTN_HALVES : TINYATTN_INTERLEAVED;
      if constexpr (block.attention.window != 0) {
        decoder.speeds = detail::speeds<head_dim, block.attention.rotary_base>.at;
      } else {
        const auto& table = detail::sinusoids<Model::context_length, head_dim, block.attention.rotary_base>;
        decoder.cosines = table.cosines;
        decoder.sines = table.sines;
      }
    }
    decoder.blocks = blocks.data();
    if constexpr (config.transformer.final_norm) decoder.final_norm = described(describe(model.transformer.final_norm));
    decoder.head = described(model.head);
  }
};

// The functions for these weights and this cache, whose words are floats here.
template <LanguageModelConfig config>
constexpr bool has_int8_cache = config.transformer.block.attention.cache == Weights::int8;
template <LanguageModelConfig config>
tinyattn_status forward(const tinyattn_decoder* decoder, std::size_t past, const uint16_t* tokens, std::size_t count, float* cache,
                        float* logits, float* scratch) {
  if constexpr (has_int8_cache<config>)
    return tinyattn_decoder_forward_int8_cache(decoder, past, tokens, count, reinterpret_cast<std::uint32_t*>(cache), logits, scratch);
  else
    return (is_int8<config> ? tinyattn_decoder_forward_int8 : tinyattn_decoder_forward)(decoder, past, tokens, count, cache, logits,
                                                                                        scratch);
}
template <LanguageModelConfig config>
constexpr auto cache_of = has_int8_cache<config> ? tinyattn_decoder_cache_int8 : tinyattn_decoder_cache;
template <LanguageModelConfig config>
constexpr auto scratch_of = has_int8_cache<config> ? tinyattn_decoder_scratch_int8_cache
                            : is_int8<config>      ? tinyattn_decoder_scratch_int8
                                                   : tinyattn_decoder_scratch;

}  // namespace tinyattn::test
