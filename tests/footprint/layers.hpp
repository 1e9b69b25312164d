// SPDX-License-Identifier: MIT
//
// The attention layers whose footprint is taken: causal, with an output projection and its bias, as most small models have them.
// -DTINYATTN_FOOTPRINT_LAYER says which.
#pragma once

#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/tensor.hpp"

namespace tinyattn::footprint {

inline constexpr AttentionConfig T0{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2};
inline constexpr AttentionConfig T1{.d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4};
inline constexpr AttentionConfig config = TINYATTN_FOOTPRINT_LAYER;

using Layer = MultiHeadAttention<config>;
using Input = Matrix<float, config.context_length, config.d_in>;
using Output = Matrix<float, config.context_length, config.d_out>;

}  // namespace tinyattn::footprint

// The call that a firmware makes: in layer.cpp that of the layer, without it nothing. What the two images differ by is what
// the layer brings.
extern "C" void attend(const tinyattn::footprint::Layer& layer, const tinyattn::footprint::Input& x, tinyattn::footprint::Output& out,
                       tinyattn::footprint::Layer::Workspace& workspace) noexcept;
