// SPDX-License-Identifier: MIT
//
// The workloads of training, after those of workloads.hpp in the table. The same holds for their CRCs.
#pragma once

#include "gradients_of_attention.hpp"
#include "workloads.hpp"

namespace tinyattn::test {

// Calls each(workload) for the gradients of layers and functions.
constexpr void for_each_workload_of_gradients(auto&& each) {
  each(Workload<Gradients<LinearGradient<3, 2, true, 6>>, Gradients<LinearGradient<17, 33, true, 2, 3>>,
                Gradients<LinearGradient<5, 16, false, 3>>>{"Linear, gradients", 0xa5b0e32c});
  each(Workload<Gradients<NormGradient<LayerNorm<1>, 1, 1>>, Gradients<NormGradient<LayerNorm<17>, 2, 3, 17>>,
                Gradients<NormGradient<LayerNorm<48>, 2, 48>>>{"LayerNorm, gradients", 0x9fbc3b3b});
  each(Workload<Gradients<NormGradient<RmsNorm<5>, 3, 5>>, Gradients<NormGradient<RmsNorm<16>, 2, 16>>,
                Gradients<NormGradient<RmsNorm<33>, 2, 33>>>{"RmsNorm, gradients", 0x10b8754b});
  each(Workload<Gradients<ActivationGradient<Activation::relu, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::gelu, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::gelu_tanh, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::silu, Vector<float, 33>>>>{"activations, gradients", 0x23da5a2a});
  each(Workload<Gradients<FeedForwardGradient<gelu_part, 5>>, Gradients<FeedForwardGradient<gated_part, 3>>>{"FeedForward, gradients",
                                                                                                             0x0b462684});
  each(Workload<Gradients<EmbeddingGradient<1>>, Gradients<EmbeddingGradient<17>>>{"Embedding, gradients", 0xf5ead2c8});
  each(Workload<Gradients<ConvolutionGradient<overlapping, 9>>, Gradients<ConvolutionGradient<padded, 6, 2>>,
                Gradients<ConvolutionGradient<patches, 8>>, Gradients<ConvolutionGradient<apart, 11>>>{"Conv1d, gradients", 0x052b9045});
  each(Workload<Gradients<MatmulGradient<Tensor<float, 2, 3, 17>, Tensor<float, 2, 3, 5>, Matrix<float, 5, 17>>>,
                Gradients<MatmulTransposedGradient<Tensor<float, 2, 3, 4>, Tensor<float, 2, 3, 17>, Tensor<float, 2, 4, 17>>>>{
      "products, gradients", 0x4f7a01d9});
  each(Workload<Gradients<SoftmaxGradient<Vector<float, 1>>>, Gradients<SoftmaxGradient<Tensor<float, 2, 3, 7>>>,
                Gradients<SoftmaxGradient<Matrix<float, 2, 49>>>>{"softmax, gradients", 0x7d1bbebf});
  each(Workload<Gradients<MeanGradient<3, 17, 2>>, Gradients<LargestGradient<5, 17, 2>>, Gradients<StandardizeGradient<2, 33>>>{
      "mean, largest and standardize, gradients", 0xe3cc9020});
}

// Of few tokens, as its workspace is on the stack.
constexpr AttentionConfig short_training = {
    .d_in = 5, .d_out = 6, .context_length = 5, .num_heads = 2, .qkv_bias = true, .dropout = 0.5, .residual_dropout = 0.1};

// The same for attention and its layers.
constexpr void for_each_workload_of_attention_gradients(auto&& each) {
  each(Workload<Gradients<OneHeadGradient<patterned<NoMask>, 5, 17, 4, 7>>>{"scaled_dot_product_attention, gradients", 0x8c38ad38});
  each(Workload<Gradients<OneHeadGradient<patterned<Causal>, 17, 17, 4, 5>>,
                Gradients<OneHeadGradient<patterned<CausalBottomRight>, 9, 15, 4, 5>>,
                Gradients<OneHeadGradient<with_a_masked_query<BlockMask<7, 17>>, 7, 17, 4, 5>>,
                Gradients<OneHeadGradient<patterned<KeepMask<17>>, 7, 17, 4, 5>>,
                Gradients<OneHeadGradient<patterned<AdditiveMask<7, 17>>, 7, 17, 4, 5>>>{"attention under masks, gradients", 0x74df1d04});
  each(Workload<Gradients<LayerGradient<one_head, 5>>, Gradients<LayerGradient<causal, 9>>, Gradients<LayerGradient<not_causal, 2, 5>>,
                Gradients<OfFirst<3, LayerGradient<causal, 5>>>>{"MultiHeadAttention, gradients", 0x36e8ff62});
  each(Workload<Gradients<LayerGradient<grouped, 9>>, Gradients<LayerGradient<halves, 5>>,
                Gradients<LayerGradient<with_window(grouped, 4), 9>>>{"MultiHeadAttention, rotary, gradients", 0xdeb325f5});
  each(Workload<Gradients<MemoryGradient<not_causal, patterned<NoMask>, 5, 7>>, Gradients<CrossGradient<not_causal, 3, 5, 4, 7>>>{
      "MultiHeadAttention, cross, gradients", 0x0f9f6661});
  each(Workload<Gradients<Dropped<LayerGradient<short_training, 2, 5>>>>{"MultiHeadAttention, dropout, gradients", 0x4f7a99a6});
}

// Blocks and models that the smallest board trains.
constexpr AttentionConfig of_small_gpt_2 = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .qkv_bias = true};
constexpr AttentionConfig of_small_gpt_2_dropped = {
    .d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .qkv_bias = true, .dropout = 0.25, .residual_dropout = 0.1};
constexpr AttentionConfig of_small_llama = {
    .d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .num_kv_heads = 1, .rotary = Rotary::halves};
constexpr FeedForwardConfig small_part = {.d_model = 4, .d_hidden = 5, .activation = Activation::gelu_tanh};
constexpr FeedForwardConfig small_gated_part = {.d_model = 4, .d_hidden = 5, .activation = Activation::silu, .gated = true, .bias = false};
constexpr BlockConfig small_norm_last = {.attention = of_small_gpt_2, .feed_forward = small_part, .norm_first = false};
constexpr BlockConfig small_rms_first = {
    .attention = of_small_llama, .feed_forward = small_gated_part, .normalization = Normalization::rms};
constexpr LanguageModelConfig small_gpt_2(const AttentionConfig& attention) noexcept {
  return {.vocabulary = 7, .transformer = {.block = {.attention = attention, .feed_forward = small_part}, .num_layers = 1}};
}
constexpr LanguageModelConfig small_llama = {
    .vocabulary = 7, .transformer = {.block = small_rms_first, .num_layers = 1}, .positions = Positions::none, .tied = false};

// The same for blocks, and for the weights of models after two steps.
constexpr void for_each_workload_of_training(auto&& each) {
  each(Workload<Gradients<BlockGradient<small_norm_last, 5>>, Gradients<BlockGradient<small_rms_first, 2, 4>>>{
      "TransformerBlock, gradients", 0xaed94d02});
  each(Workload<TrainingSteps<small_gpt_2(of_small_gpt_2), AdamW, 4, false>>{"two steps of AdamW, as GPT-2", 0x4597acf1});
  each(Workload<TrainingSteps<small_llama, AdamW, 4, false>>{"two steps of AdamW, as Llama", 0xbff43208});
  each(Workload<TrainingSteps<small_gpt_2(of_small_gpt_2_dropped), SgdMomentum, 4, true>>{"two steps of SgdMomentum, with dropout",
                                                                                          0xaf68ae62});
}

}  // namespace tinyattn::test
