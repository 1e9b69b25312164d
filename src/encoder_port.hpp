// SPDX-License-Identifier: MIT
//
// The operations of an encoder on the port of this translation unit. encoders.cpp has checked the
// arguments.
#pragma once

#include "blocks.hpp"
#include "encoder_operations.hpp"
#include "port.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

TINYATTN_ALWAYS_INLINE kernel::Rotation rotation_of(const tinyattn_encoder& encoder) noexcept {
  if (encoder.rotary == TINYATTN_NO_ROTARY) return {};
  return kernel::rotation_of(encoder.cosines, encoder.sines, encoder.rotary == TINYATTN_INTERLEAVED,
                             encoder.d_model / encoder.num_heads);
}

TINYATTN_ALWAYS_INLINE auto encoder_parts(const tinyattn_encoder& encoder, std::size_t tokens,
                                          float* scratch, float* shared, auto integers) noexcept {
  const std::size_t d_model = encoder.d_model;
  return kernel::BlockScratch<decltype(integers)>{
      {scratch, d_model},
      kernel::parts_of(shared, d_model, d_model / group_of(encoder), tokens, block_rows(tokens),
                       TINYATTN_FEWER(tokens, native_port::query_rows), integers),
      shared,
      TINYATTN_FEWER(tokens, kernel::feed_forward_rows<native_port>)};
}

// Computes all blocks for all tokens, in place.
template <class Weights>
inline void encode(const tinyattn_encoder& encoder, const EncoderCall& call) noexcept {
  const std::size_t d_model = encoder.d_model, tokens = call.num_tokens;
  const EncoderLayout at = encoder_layout<Weights>(encoder, tokens);
  const auto integers = Weights::take(call.scratch + at.integers, TINYATTN_QUERY_ROWS(tokens));
  const auto parts =
      encoder_parts(encoder, tokens, call.scratch, call.scratch + at.shared, integers);
  const kernel::Output x{call.out, d_model};
  const kernel::Mask all = kernel::no_mask(tokens);
  const kernel::Mask mask = encoder.causal ? kernel::and_causal(all) : all;
  if (call.x != call.out)
    kernel::transform_row<native_port>(call.x, call.out, tokens * d_model,
                                       [](auto v) { return v; });
  for (std::size_t layer = 0; layer < encoder.num_layers; ++layer)
    kernel::forward_block<native_port>(
        block_of<Weights>(encoder, encoder.blocks[layer], group_of(encoder), rotation_of(encoder)),
        parts, tokens, x, mask);
  if (encoder.final_norm.weight != nullptr)
    kernel::normalize_features<native_port>(norm_of(encoder.final_norm, d_model), tokens, x, x);
  Weights::give_back();
}

static constexpr EncoderOperations native_encoder_operations = {encode<Floats>};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
