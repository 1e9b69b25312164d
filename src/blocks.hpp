// SPDX-License-Identifier: MIT
//
// Blocks of a decoder or an encoder, as kernels take them.
#pragma once

#include "projections.hpp"
#include "tinyattn/kernel/block.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"
#include "tinyattn/tinyattn_encoder.h"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

TINYATTN_ALWAYS_INLINE kernel::Norm norm_of(const tinyattn_norm& norm, std::size_t dim) noexcept {
  return {dim, norm.weight, norm.bias, norm.epsilon};
}

// Returns a block of a decoder or an encoder; `group` query heads share a key head.
template <class Weights, class Rotations>
TINYATTN_ALWAYS_INLINE auto block_of(const auto& model, const tinyattn_block& block,
                                     std::size_t group, const Rotations& rotation) noexcept {
  const std::size_t d_model = model.d_model, head_dim = d_model / model.num_heads;
  const auto projection = [](const tinyattn_linear& linear)
                              TINYATTN_INLINE_LAMBDA { return Weights::projection(linear); };
  using Weight = typename Weights::Weight;
  return kernel::Block<kernel::GroupedLayer<Weight, Rotations>, kernel::FeedForward<Weight>>{
      norm_of(block.attention_norm, d_model),
      {{d_model, d_model, model.num_heads, head_dim,
        port::detail::inverse_sqrt_in_integers(head_dim), projection(block.query),
        projection(block.key), projection(block.value), projection(block.out_proj)},
       group,
       rotation},
      norm_of(block.feed_forward_norm, d_model),
      {d_model, model.d_hidden, static_cast<Activation>(model.activation), projection(block.up),
       projection(block.gate), projection(block.down)},
      model.norm_first};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
