// SPDX-License-Identifier: MIT
//
// The operations of whole models on the port of this translation unit. models.cpp has checked the
// arguments.
#pragma once

#include "blocks.hpp"
#include "models_operations.hpp"
#include "projections.hpp"
#include "scratch.hpp"
#include "tinyattn/kernel/block.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/kernel/sampling.hpp"
#include "tinyattn/kernel/window.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

using namespace compiled;

inline void activate(tinyattn_activation activation, std::size_t count, const float* x,
                     float* out) noexcept {
  kernel::activate_row<native_port>(static_cast<Activation>(activation), x, out, count);
}

inline void normalize(const tinyattn_norm& norm, std::size_t rows, std::size_t dim, const float* x,
                      float* out) noexcept {
  kernel::normalize_features<native_port>(norm_of(norm, dim), rows, {x, dim}, {out, dim});
}

// Draws a token; the temperature is above 0.
inline std::uint16_t sample(const tinyattn_sampling& sampling, std::size_t count, float* p,
                            float fraction) noexcept {
  return static_cast<std::uint16_t>(kernel::draw<native_port>(
      p, count, sampling.temperature, sampling.top_k, sampling.top_p, fraction));
}

// Rotary positions of a table, or without an end, or none.
struct DecoderRotation {
  kernel::Rotation table;
  kernel::EndlessRotation endless;
};
TINYATTN_ALWAYS_INLINE DecoderRotation rotation_of(const tinyattn_decoder& decoder) noexcept {
  const bool is_interleaved = decoder.rotary == TINYATTN_INTERLEAVED;
  const std::size_t head_dim = decoder.d_model / decoder.num_heads;
  if (decoder.rotary == TINYATTN_NO_ROTARY) return {};
  if (decoder.window != 0 && decoder.speeds != nullptr)
    return {{}, kernel::endless_rotation_of(decoder.speeds, is_interleaved, head_dim)};
  return {kernel::rotation_of(decoder.cosines, decoder.sines, is_interleaved, head_dim), {}};
}
template <class Port>
TINYATTN_ALWAYS_INLINE kernel::Rotation rotation_at(const DecoderRotation& rotation,
                                                    std::size_t position, std::size_t head_dim,
                                                    float* table) noexcept {
  if (rotation.endless.speeds != nullptr)
    return kernel::rotation_at<Port>(rotation.endless, position, head_dim, table);
  return kernel::rotation_at<Port>(rotation.table, position, head_dim, table);
}

// The table of the embedding, and the head.
template <class Weights>
TINYATTN_ALWAYS_INLINE auto table_of(const tinyattn_decoder& decoder) noexcept {
  if constexpr (std::is_same_v<Weights, Floats>)
    return kernel::Dense{decoder.token_embedding, decoder.d_model};
  else
    return kernel::Int8Table{{decoder.token_codes, decoder.token_scales}, decoder.d_model};
}
template <class Weights>
TINYATTN_ALWAYS_INLINE auto head_of(const tinyattn_decoder& decoder) noexcept {
  const auto projection = Weights::projection(decoder.head);
  if constexpr (std::is_same_v<Weights, Floats>)
    return kernel::LogitsHead{decoder.d_model, decoder.vocabulary, projection,
                              decoder.token_embedding};
  else if (is_null(projection.weight))
    return kernel::Int8LogitsHead{
        decoder.d_model, decoder.vocabulary, {table_of<Weights>(decoder).weights, nullptr}};
  else
    return kernel::Int8LogitsHead{decoder.d_model, decoder.vocabulary, projection};
}

// Computes all blocks for one token after the other, then the logits of the last token.
template <class Weights, class Cache = FloatCache>
inline void decode(const tinyattn_decoder& decoder, const DecoderCall& call) noexcept {
  const std::size_t d_model = decoder.d_model;
  const DecoderLayout at = decoder_layout<Weights, Cache>(decoder);
  const auto integers = Weights::take(call.scratch + at.integers, 1);
  const kernel::Output x{call.scratch, d_model};
  const auto parts = kernel::cached_block_parts(call.scratch + at.block, 1, d_model, integers);
  const Cache cache(decoder, call.cache);
  for (std::size_t i = 0; i < call.num_tokens; ++i) {
    kernel::embed<native_port>(table_of<Weights>(decoder), {decoder.position_embedding, d_model},
                               call.tokens + i, 1, call.past + i, x);
    for (std::size_t layer = 0; layer < decoder.num_layers; ++layer)
      kernel::forward_block_cached<native_port>(
          block_of<Weights>(decoder, decoder.blocks[layer], group_of(decoder),
                            rotation_of(decoder)),
          cache.layer(layer), parts, call.past + i, 1, x);
  }
  if (decoder.final_norm.weight != nullptr)
    kernel::normalize_features<native_port>(norm_of(decoder.final_norm, d_model), 1, x, x);
  kernel::compute_logits<native_port>(head_of<Weights>(decoder), 1, x,
                                      {call.logits, decoder.vocabulary}, integers);
  Weights::give_back();
}

static constexpr ModelOperations native_model_operations = {activate, normalize, sample,
                                                            decode<Floats>};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
