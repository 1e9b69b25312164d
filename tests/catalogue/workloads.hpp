// SPDX-License-Identifier: MIT
//
// The workloads, the columns of the table: each is a name and its cases, one after the other. Their shapes lie around the multiples of 16,
// which is where vectors and the sixteen lanes of a row sum end. crcs.hpp has the CRC-32 of each.
#pragma once

#include "models.hpp"
#include "operations.hpp"

namespace tinyattn::test {

template <class... Cases>
struct Workload {
  const char* name;
};

constexpr AttentionConfig one_head = {.d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 1};
constexpr AttentionConfig wide_heads = {.d_in = 5, .d_out = 34, .context_length = 6, .num_heads = 2, .qkv_bias = true, .out_proj = false};
constexpr AttentionConfig not_causal = {.d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 2, .causal = false};
constexpr AttentionConfig causal = {.d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 2};
constexpr AttentionConfig training = {
    .d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 2, .qkv_bias = true, .dropout = 0.5, .residual_dropout = 0.1};
constexpr AttentionConfig large = {.d_in = 48, .d_out = 48, .context_length = 65, .num_heads = 3};

// Configurations of models: grouped key heads, both kinds of rotary positions, both norms, both orders, with a gate and without.
constexpr AttentionConfig grouped = {
    .d_in = 12, .d_out = 12, .context_length = 9, .num_heads = 6, .num_kv_heads = 2, .rotary = Rotary::interleaved};
constexpr AttentionConfig halves = {.d_in = 16,
                                    .d_out = 16,
                                    .context_length = 5,
                                    .num_heads = 2,
                                    .out_proj = false,
                                    .num_kv_heads = 1,
                                    .rotary = Rotary::halves,
                                    .rotary_base = 500};
constexpr AttentionConfig with_biases = {.d_in = 12, .d_out = 12, .context_length = 5, .num_heads = 2, .qkv_bias = true};
constexpr FeedForwardConfig gelu_part = {.d_model = 12, .d_hidden = 17};
constexpr FeedForwardConfig gated_part = {.d_model = 12, .d_hidden = 20, .activation = Activation::silu, .gated = true, .bias = false};
constexpr BlockConfig norm_last = {.attention = with_biases, .feed_forward = gelu_part, .norm_first = false};
constexpr BlockConfig rms_first = {.attention = grouped, .feed_forward = gated_part, .normalization = Normalization::rms};
constexpr BlockConfig layer_first = {.attention = with_biases,
                                     .feed_forward = {.d_model = 12, .d_hidden = 33, .activation = Activation::gelu_tanh}};
constexpr LanguageModelConfig gpt_2 = {.vocabulary = 7, .transformer = {.block = layer_first, .num_layers = 2}};
constexpr LanguageModelConfig llama = {
    .vocabulary = 19, .transformer = {.block = rms_first, .num_layers = 2}, .positions = Positions::none, .tied = false};

// Calls each(workload) for the workloads that the compiler computes, too.
constexpr void for_each_finite_workload(auto&& each) {
  each(Workload<Fma>{"fma"});
  each(Workload<Exp>{"exp"});
  each(Workload<Sqrt>{"sqrt"});
  each(Workload<Draws<Mt19937>>{"rand and uniform, Mt19937"});
  each(Workload<Draws<Philox4x32>>{"rand and uniform, Philox4x32"});
  each(Workload<Initialize<training, Mt19937>>{"initialize, Mt19937"});
  each(Workload<Dot<1>, Dot<16>, Dot<47>>{"dot"});
  each(Workload<Add<1>, Add<3, 17>>{"add"});
  each(Workload<Matmul<1, 1, 1>, Matmul<3, 5, 7>, Matmul<13, 2, 11>, Matmul<6, 3, 2>>{"matmul, odd shapes"});
  each(Workload<Matmul<3, 2, 15>, Matmul<3, 2, 16>, Matmul<3, 2, 17>, Matmul<3, 2, 31>, Matmul<3, 2, 32>, Matmul<3, 2, 33>,
                Matmul<3, 2, 47>, Matmul<3, 2, 48>, Matmul<3, 2, 49>, Matmul<2, 2, 63>, Matmul<2, 2, 64>, Matmul<2, 2, 65>>{
      "matmul, columns around multiples of 16"});
  each(Workload<Matmul<15, 16, 5>, Matmul<16, 17, 5>, Matmul<17, 15, 5>, Matmul<33, 31, 4>>{"matmul, rows around multiples of 16"});
  each(Workload<MatmulOfVector<17, 5>, MatmulOfVector<5, 17>, MatmulOfBatch<2, 3, 4, 9>, MatmulOfBatches<3, 2, 5, 6>>{
      "matmul of vectors and batches"});
  each(Workload<MatmulTransposed<1, 3, 1>, MatmulTransposed<6, 3, 6>, MatmulTransposed<5, 16, 17>, MatmulTransposed<3, 33, 15>,
                MatmulTransposed<2, 31, 33>>{"matmul_transposed"});
  each(Workload<Softmax<3, 1>, Softmax<3, 2>, Softmax<3, 3>, Softmax<3, 6>, Softmax<3, 7>>{"softmax of narrow rows"});
  each(Workload<Softmax<2, 15>, Softmax<2, 16>, Softmax<2, 17>, Softmax<2, 31>, Softmax<2, 32>, Softmax<2, 33>, Softmax<1, 64>,
                Softmax<1, 129>>{"softmax of wide rows"});
  each(Workload<SoftmaxOfExtremes<5>, SoftmaxOfExtremes<33>>{"softmax of extreme scores"});
  each(Workload<SoftmaxNaive<3, 6>, SoftmaxNaive<3, 17>>{"softmax_naive"});
  each(Workload<Normalize<3, 6>, Normalize<2, 16>, Normalize<2, 49>>{"normalize"});
  each(Workload<Dropout<Mt19937, 5, 17>>{"dropout, Mt19937"});
  each(Workload<Dropout<Philox4x32, 5, 17>>{"dropout, Philox4x32"});
  each(Workload<LinearLayer<3, 2, true, 6>, LinearLayer<17, 33, true, 2, 3>, LinearLayer<5, 16, false, 3>>{"Linear"});
  each(Workload<StepByStep<one_head, 17>>{"attention, step by step"});
  each(Workload<Attention<NoMask, 5, 17, 4, 7>>{"scaled_dot_product_attention"});
  each(Workload<Attention<Causal, 17, 17, 4, 5>>{"attention, Causal"});
  each(Workload<Attention<CausalBottomRight, 9, 15, 4, 5>>{"attention, CausalBottomRight"});
  each(Workload<Attention<BlockMask<7, 17>, 7, 17, 4, 5>>{"attention, BlockMask"});
  each(Workload<Attention<KeepMask<17>, 7, 17, 4, 5>>{"attention, KeepMask"});
  each(Workload<Attention<AdditiveMask<7, 17>, 7, 17, 4, 5>>{"attention, AdditiveMask"});
  each(Workload<Forward<SelfAttention<5, 17, 16>, 5, 17, 16>>{"SelfAttention"});
  each(Workload<Forward<CausalAttention<5, 15, 17>, 5, 15, 7>>{"CausalAttention"});
  each(Workload<Forward<StackedCausalAttention<3, 2, 6, 2>, 3, 4, 2, 6>>{"StackedCausalAttention"});
  each(Workload<ForwardOf<wide_heads, 6>>{"MultiHeadAttention"});
  each(Workload<ForwardOf<causal, 15>, ForwardOf<causal, 16>, ForwardOf<causal, 17>>{"MultiHeadAttention, tokens around 16"});
  each(Workload<CrossForward<not_causal, 5, 9>>{"MultiHeadAttention, cross"});
  each(Workload<ForwardOf<not_causal, 3, 5>>{"MultiHeadAttention, batch"});
  each(Workload<ForwardWithWeights<causal, 9>>{"MultiHeadAttention, with weights"});
  each(Workload<ForwardOfSomeTokens<causal, 6>>{"MultiHeadAttention, run-time tokens"});
  each(
      Workload<ForwardMasked<not_causal, BlockMask<7>, 7>, ForwardMasked<causal, AdditiveMask<7, 7>, 7>>{"MultiHeadAttention, more masks"});
  each(Workload<TrainingPass<training, Mt19937, 6>>{"MultiHeadAttention, training, Mt19937"});
  each(Workload<TrainingPass<training, Philox4x32, 2, 5>>{"MultiHeadAttention, training, Philox4x32"});
  each(Workload<TanhAndErf>{"tanh and erf"});
  each(Workload<Relu<3, 7>, Relu<2, 17>>{"relu"});
  each(Workload<Gelu<3, 7>, Gelu<2, 33>>{"gelu"});
  each(Workload<GeluTanh<3, 7>, GeluTanh<2, 33>>{"gelu_tanh"});
  each(Workload<Silu<3, 7>, Silu<2, 33>>{"silu"});
  each(Workload<Normalized<LayerNorm<1>, 1>, Normalized<LayerNorm<17>, 17>, Normalized<LayerNorm<48>, 48>>{"LayerNorm"});
  each(Workload<Normalized<RmsNorm<5>, 5>, Normalized<RmsNorm<16>, 16>, Normalized<RmsNorm<33>, 33>>{"RmsNorm"});
  each(Workload<Sinusoidal<9, 7>>{"sinusoidal_positions"});
  each(Workload<FeedForwardOf<gelu_part, 5>, FeedForwardOf<gated_part, 3>>{"FeedForward"});
  each(Workload<CachedAttention<grouped, 9>, CachedAttention<halves, 5>>{"MultiHeadAttention, rotary, by a cache"});
  each(Workload<CachedBlock<norm_last, 5>, CachedBlock<rms_first, 3>>{"TransformerBlock"});
  each(Workload<Writes<gpt_2, 3>>{"LanguageModel, as GPT-2"});
  each(Workload<Writes<llama, 6>>{"LanguageModel, as Llama"});
}

// Calls each(workload) for the others: NaN and infinity are no constant expressions, and 65 tokens take the compiler too long.
constexpr void for_each_other_workload(auto&& each) {
  each(Workload<ArithmeticNotFinite>{"NaN and infinity, arithmetic"});
  each(Workload<RowsNotFinite<5>, RowsNotFinite<17>>{"NaN and infinity, rows"});
  each(Workload<AttentionNotFinite<6, 3>>{"NaN and infinity, attention"});
  each(Workload<ForwardOf<large, 65>>{"MultiHeadAttention, 65 tokens"});
  each(Workload<ActivationsNotFinite>{"NaN and infinity, activations"});
}

}  // namespace tinyattn::test
