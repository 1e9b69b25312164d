// SPDX-License-Identifier: MIT
//
// The workloads of training, after those of workloads.hpp in the table. The same holds for their CRCs.
#pragma once

#include "gradients_of_attention.hpp"
#include "workloads.hpp"

namespace tinyattn::test {

// Calls each(workload) for the gradients of layers and functions.
constexpr void for_each_workload_of_gradients(auto&& each) {
  each(Workload<Gradients<LinearGradient<3, 2, true, 6>>, Gradients<LinearGradient<17, 33, false, 2, 3>>>{"Linear, gradients", 0xc9019f52});
  each(Workload<Gradients<NormGradient<LayerNorm<17>, 2, 17>>, Gradients<NormGradient<RmsNorm<33>, 2, 33>>>{
      "LayerNorm and RmsNorm, gradients", 0x38c8b4d8});
  each(Workload<Gradients<ActivationGradient<Activation::relu, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::gelu, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::gelu_tanh, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::silu, Vector<float, 33>>>>{"activations, gradients", 0x23da5a2a});
  each(Workload<Gradients<FeedForwardGradient<gelu_part, 5>>>{"FeedForward, gradients", 0x8f192712});
  each(Workload<Gradients<EmbeddingGradient<17>>>{"Embedding, gradients", 0x79a28a40});
  each(Workload<Gradients<ConvolutionGradient<padded, 6, 2>>>{"Conv1d, gradients", 0xfef1b75a});
  each(Workload<Gradients<MatmulGradient<Tensor<float, 2, 3, 17>, Tensor<float, 2, 3, 5>, Matrix<float, 5, 17>>>,
                Gradients<MatmulTransposedGradient<Matrix<float, 3, 4>, Matrix<float, 3, 17>, Matrix<float, 4, 17>>>>{"products, gradients",
                                                                                                                      0x3a953ebf});
  each(Workload<Gradients<SoftmaxGradient<Matrix<float, 3, 7>>>, Gradients<SoftmaxGradient<Matrix<float, 2, 33>>>>{"softmax, gradients",
                                                                                                                   0xb318d001});
  each(Workload<Gradients<MeanGradient<3, 17, 2>>, Gradients<LargestGradient<5, 17, 2>>, Gradients<StandardizeGradient<2, 33>>>{
      "mean, largest and standardize, gradients", 0xe3cc9020});
}

// Of few tokens, as its workspace is on the stack.
constexpr AttentionConfig short_training = {
    .d_in = 5, .d_out = 6, .context_length = 5, .num_heads = 2, .qkv_bias = true, .dropout = 0.5, .residual_dropout = 0.1};

// The same for attention and its layers.
constexpr void for_each_workload_of_attention_gradients(auto&& each) {
  each(Workload<Gradients<OneHeadGradient<patterned<CausalBottomRight>, 9, 15, 4, 5>>,
                Gradients<OneHeadGradient<with_a_masked_query<BlockMask<7, 17>>, 7, 17, 4, 5>>,
                Gradients<OneHeadGradient<patterned<KeepMask<17>>, 7, 17, 4, 5>>,
                Gradients<OneHeadGradient<patterned<AdditiveMask<7, 17>>, 7, 17, 4, 5>>>{"attention under masks, gradients", 0xed0e3fb2});
  each(Workload<Gradients<OfFirst<7, LayerGradient<with_window(grouped, 4), 9>>>>{"MultiHeadAttention, rotary, gradients", 0x7e30bb5d});
  each(Workload<Gradients<CrossGradient<not_causal, 3, 5, 4, 7>>>{"MultiHeadAttention, cross, gradients", 0xff3a8174});
  each(Workload<Gradients<Dropped<LayerGradient<short_training, 2, 5>>>>{"MultiHeadAttention, dropout, gradients", 0x4f7a99a6});
}

// A model that the smallest board trains, with the block of a Llama, and a block with its norms last.
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
constexpr BlockConfig small_norm_last = {
    .attention = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false, .qkv_bias = true},
    .feed_forward = {.d_model = 4, .d_hidden = 5, .activation = Activation::gelu_tanh},
    .norm_first = false};

// The same for blocks, and for the weights of a model after two steps of each optimizer.
constexpr void for_each_workload_of_training(auto&& each) {
  each(Workload<Gradients<BlockGradient<small_norm_last, 5>>>{"TransformerBlock, gradients", 0x0fee18dd});
  each(Workload<TrainingSteps<small_model, 4, true, AdamW, SgdMomentum>>{"steps of AdamW and SgdMomentum, with dropout", 0x4917196c});
}

}  // namespace tinyattn::test
