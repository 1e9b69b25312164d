// SPDX-License-Identifier: MIT
//
// The workloads of training, which follow workloads.hpp in the table. The same rule holds for their CRCs.
#pragma once

#include "gradients_of_attention.hpp"
#include "workloads.hpp"

#include <utility>

namespace tinyattn::test {

// Calls each(workload) for the gradients of layers and functions.
constexpr void for_each_workload_of_gradients(auto&& each) {
  each(Workload<Gradients<LinearGradient<17, 33, true, 2, 3>>>{"Linear, gradients", 0xe156fd40});
  each(Workload<Gradients<NormGradient<LayerNorm<17>, 2, 17>>, Gradients<NormGradient<RmsNorm<33>, 2, 33>>>{
      "LayerNorm and RmsNorm, gradients", 0x38c8b4d8});
  [&]<int... activation>(std::integer_sequence<int, activation...>) {
    each(Workload<Gradients<ActivationGradient<Activation{activation}, Vector<float, 33>>>...>{"activations, gradients", 0x23da5a2a});
  }
  (std::make_integer_sequence<int, activations_in_crcs>{});
  each(Workload<Gradients<ConvolutionGradient<padded, 6, 2>>>{"Conv1d, gradients", 0xfef1b75a});
  each(Workload<Gradients<SoftmaxGradient<Matrix<float, 2, 33>>>>{"softmax, gradients", 0xcdcdbc67});
  each(Workload<Gradients<MeanGradient<3, 17, 2>>, Gradients<LargestGradient<5, 17, 2>>, Gradients<StandardizeGradient<2, 33>>>{
      "mean, largest and standardize, gradients", 0xe3cc9020});
}

// Gradients of attention functions and layers; grouped heads, rotary positions and dropout come with the model below.
constexpr void for_each_workload_of_attention_gradients(auto&& each) {
  each(Workload<Gradients<OneHeadGradient<patterned<KeepMask<17>>, 7, 17, 4, 5>>>{"attention, KeepMask, gradients", 0x02088247});
  each(Workload<Gradients<CrossGradient<not_causal, 3, 5, 4, 7>>>{"MultiHeadAttention, cross, gradients", 0xff3a8174});
}

// A small Llama that the smallest board can train.
constexpr AttentionConfig of_small_model = {.d_in = 4,
                                            .d_out = 4,
                                            .context_length = 5,
                                            .num_heads = 2,
                                            .dropout = 0.25,
                                            .residual_dropout = 0.1,
                                            .num_kv_heads = 1,
                                            .rotary = Rotary::halves};
constexpr FeedForwardConfig small_gated_part = {.d_model = 4, .d_hidden = 5, .activation = Activation::silu, .gated = true, .bias = false};
constexpr BlockConfig small_rms_first = {
    .attention = of_small_model, .feed_forward = small_gated_part, .normalization = Normalization::rms};
constexpr LanguageModelConfig small_model = {.vocabulary = 7, .transformer = {.block = small_rms_first, .num_layers = 1}};

// The weights of a model after two steps of each optimizer.
constexpr void for_each_workload_of_training(auto&& each) {
  each(Workload<TrainingSteps<small_model, 4, true, AdamW, SgdMomentum>>{"steps of AdamW and SgdMomentum, with dropout", 0x4917196c});
}

}  // namespace tinyattn::test
