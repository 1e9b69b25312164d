// SPDX-License-Identifier: MIT
//
// The attention layers whose footprint is measured: causal, with an output projection and its bias, as in most small models.
// -DTINYATTN_FOOTPRINT_LAYER chooses one.
#pragma once

#include "tinyattn/language_model.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/tensor.hpp"

namespace tinyattn::footprint {

inline constexpr AttentionConfig T0{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2};
inline constexpr AttentionConfig T1{.d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4};

// A third choice: one token of a decoder with a cache, of the shape of llama2.c's stories260K.
inline constexpr LanguageModelConfig TOKEN{
    .vocabulary = 512,
    .transformer =
        {.block = {.attention = {.d_in = 64,
                                 .d_out = 64,
                                 .context_length = 64,
                                 .num_heads = 8,
                                 .out_bias = false,
                                 .num_kv_heads = 4,
                                 .rotary = Rotary::interleaved},
                   .feed_forward = {.d_model = 64, .d_hidden = 172, .activation = Activation::silu, .gated = true, .bias = false},
                   .normalization = Normalization::rms},
         .num_layers = 5},
    .positions = Positions::none};

template <auto config>
struct Firmware {
  using Layer = MultiHeadAttention<config>;
  using Workspace = typename Layer::Workspace;
  using Input = Matrix<float, config.context_length, config.d_in>;
  using Output = Matrix<float, config.context_length, config.d_out>;

  static void call(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept { layer.forward(x, out, workspace); }
};

template <LanguageModelConfig config>
struct Firmware<config> {
  using Layer = LanguageModel<config>;
  struct Workspace {
    typename Layer::Cache cache;
    typename Layer::Cache::Workspace scratch;
  };
  using Input = Vector<Token, 1>;
  using Output = Vector<float, config.vocabulary>;

  static void call(const Layer& layer, const Input& token, Output& logits, Workspace& workspace) noexcept {
    static_cast<void>(layer.forward(token, workspace.cache, logits, workspace.scratch));
  }
};

using Measured = Firmware<TINYATTN_FOOTPRINT_LAYER>;
using Layer = Measured::Layer;
using Workspace = Measured::Workspace;
using Input = Measured::Input;
using Output = Measured::Output;

}  // namespace tinyattn::footprint

// The call that a firmware makes: layer.cpp defines it as a call of the layer; without that file it does nothing. The two images differ by
// what the layer adds.
extern "C" void attend(const tinyattn::footprint::Layer& layer, const tinyattn::footprint::Input& x, tinyattn::footprint::Output& out,
                       tinyattn::footprint::Workspace& workspace) noexcept;
