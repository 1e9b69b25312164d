// SPDX-License-Identifier: MIT
//
// The operations of tinyattn_models.h on the port of this translation unit: whole models, for each
// kind of weights.
#pragma once

#include "layer_operations.hpp"
#include "operations.hpp"
#include "scratch.hpp"
#include "tinyattn/kernel/block.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/kernel/sampling.hpp"
#include "tinyattn/kernel/window.hpp"
#include "weights.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

inline void activate(tinyattn_activation activation, std::size_t count, const float* x,
                     float* out) noexcept {
  kernel::activate_row<native_port>(static_cast<Activation>(activation), x, out, count);
}

// Draws a token; the temperature is above 0.
inline std::uint16_t sample(const tinyattn_sampling& sampling, std::size_t count, float* p,
                            float fraction) noexcept {
  return static_cast<std::uint16_t>(kernel::draw<native_port>(
      p, count, sampling.temperature, sampling.top_k, sampling.top_p, fraction));
}

TINYATTN_ALWAYS_INLINE kernel::Norm norm_of(const tinyattn_norm& norm, std::size_t dim) noexcept {
  return {dim, norm.weight, norm.bias, norm.epsilon};
}
inline void normalize(const tinyattn_norm& norm, std::size_t rows, std::size_t dim, const float* x,
                      float* out) noexcept {
  kernel::normalize_features<native_port>(norm_of(norm, dim), rows, {x, dim}, {out, dim});
}

// --- Blocks ---

// Returns a block of a decoder or an encoder.
template <class Weights, class Rotations>
TINYATTN_ALWAYS_INLINE auto block_of(const auto& model, const tinyattn_block& block,
                                     const Rotations& rotation) noexcept {
  const std::size_t d_model = model.d_model;
  using Weight = typename Weights::Weight;
  return kernel::Block<kernel::GroupedLayer<Weight, Rotations>, kernel::FeedForward<Weight>>{
      norm_of(block.attention_norm, d_model),
      attention_of<Weights>(d_model, d_model, model, block, rotation),
      norm_of(block.feed_forward_norm, d_model),
      {d_model, model.d_hidden, static_cast<Activation>(model.activation),
       Weights::projection(block.up), Weights::projection(block.gate),
       Weights::projection(block.down)},
      model.norm_first};
}

TINYATTN_ALWAYS_INLINE void apply_final_norm(const auto& model, std::size_t rows,
                                             kernel::Output x) noexcept {
  if (model.final_norm.weight != nullptr)
    kernel::normalize_features<native_port>(norm_of(model.final_norm, model.d_model), rows, x, x);
}

TINYATTN_ALWAYS_INLINE kernel::Rotation rotation_of(const tinyattn_encoder& encoder) noexcept {
  if (encoder.rotary == TINYATTN_NO_ROTARY) return {};
  return rotation_of(encoder, encoder.d_model / encoder.num_heads);
}

// Computes all blocks for all tokens, in place.
template <class Weights>
inline void encode(const tinyattn_encoder& encoder, const FeaturesCall& call) noexcept {
  const std::size_t d_model = encoder.d_model, tokens = call.num_tokens;
  auto integers = Weights::take(call.scratch, floats_of(encoder, tokens), tokens);
  float* const shared = call.scratch + tokens * d_model;
  const kernel::BlockScratch parts{
      {call.scratch, d_model},
      layer_parts(shared, d_model, d_model / group_of(encoder), tokens, tokens, integers),
      shared,
      TINYATTN_FEWER(tokens, kernel::feed_forward_rows<native_port>)};
  const kernel::Output x{call.out, d_model};
  const kernel::Mask all = kernel::no_mask(tokens);
  const kernel::Mask mask = encoder.causal ? kernel::and_causal(all) : all;
  if (call.x != call.out)
    kernel::transform_row<native_port>(call.x, call.out, tokens * d_model,
                                       [](auto v) { return v; });
  for (std::size_t layer = 0; layer < encoder.num_layers; ++layer)
    kernel::forward_block<native_port>(
        block_of<Weights>(encoder, encoder.blocks[layer], rotation_of(encoder)), parts, tokens, x,
        mask);
  apply_final_norm(encoder, tokens, x);
  Weights::give_back();
}

// --- Decoders ---

// Rotary positions of a table, or without an end, or none.
struct DecoderRotation {
  kernel::Rotation table;
  kernel::EndlessRotation endless;
};
TINYATTN_ALWAYS_INLINE DecoderRotation rotation_of(const tinyattn_decoder& decoder) noexcept {
  const std::size_t head_dim = decoder.d_model / decoder.num_heads;
  if (decoder.rotary == TINYATTN_NO_ROTARY) return {};
  if (decoder.window != 0 && decoder.speeds != nullptr)
    return {{},
            kernel::endless_rotation_of(decoder.speeds, decoder.rotary == TINYATTN_INTERLEAVED,
                                        head_dim)};
  return {rotation_of(decoder, head_dim), {}};
}
template <class Port>
TINYATTN_ALWAYS_INLINE kernel::Rotation rotation_at(const DecoderRotation& rotation,
                                                    std::size_t position, std::size_t head_dim,
                                                    float* table) noexcept {
  if (rotation.endless.speeds != nullptr)
    return kernel::rotation_at<Port>(rotation.endless, position, head_dim, table);
  return kernel::rotation_at<Port>(rotation.table, position, head_dim, table);
}

// Computes all blocks for one token after the other, then the logits of the last token.
template <class Weights, class Cache>
inline void decode(const tinyattn_decoder& decoder, const DecoderCall& call) noexcept {
  const std::size_t d_model = decoder.d_model;
  const auto integers = Weights::take(call.scratch, floats_of<Cache>(decoder), 1);
  const kernel::Output x{call.scratch, d_model};
  const auto parts = kernel::cached_block_parts(call.scratch + d_model, 1, d_model, integers);
  for (std::size_t i = 0; i < call.num_tokens; ++i) {
    kernel::embed<native_port>(Weights::embedding(decoder), {decoder.position_embedding, d_model},
                               call.tokens + i, 1, call.past + i, x);
    for (std::size_t layer = 0; layer < decoder.num_layers; ++layer)
      kernel::forward_block_cached<native_port>(
          block_of<Weights>(decoder, decoder.blocks[layer], rotation_of(decoder)),
          Cache::layer(decoder, call.cache, layer), parts, call.past + i, 1, x);
  }
  apply_final_norm(decoder, 1, x);
  kernel::compute_logits<native_port>(Weights::head(decoder), 1, x,
                                      {call.logits, decoder.vocabulary}, integers);
  Weights::give_back();
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
