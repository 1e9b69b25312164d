// SPDX-License-Identifier: MIT
//
// The workloads, the columns of the CRC table: a name, cases that run one after the other, and the CRC-32 of their outputs, the same on
// every target. Shapes lie around multiples of 16, where vectors and the sixteen lanes of a row sum end. Never change a CRC to make a test
// pass: README.md.
#pragma once

#include "models.hpp"
#include "operations.hpp"
#include "primitives.hpp"

#include <cstdint>
#include <iterator>

namespace tinyattn::test {

template <class... Cases>
struct Workload {
  const char* name;
  std::uint32_t crc;
};

constexpr AttentionConfig one_head = {.d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 1};
constexpr AttentionConfig wide_heads = {.d_in = 5, .d_out = 34, .context_length = 6, .num_heads = 2, .qkv_bias = true, .out_proj = false};
constexpr AttentionConfig not_causal = {.d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 2, .causal = false};
constexpr AttentionConfig wide_source = {
    .d_in = 5, .d_out = 12, .context_length = 17, .num_heads = 4, .causal = false, .num_kv_heads = 2, .d_key = 7, .d_value = 18};
constexpr AttentionConfig causal = {.d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 2};
constexpr AttentionConfig training = {
    .d_in = 5, .d_out = 6, .context_length = 17, .num_heads = 2, .qkv_bias = true, .dropout = 0.5, .residual_dropout = 0.1};
constexpr AttentionConfig large = {.d_in = 48, .d_out = 48, .context_length = 65, .num_heads = 3};

// Configurations of models: grouped heads, both rotary layouts, both norms, norm first and last, gated and not.
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
// Decoders: a source longer and shorter than the text; heads that share keys, in either attention.
constexpr DecoderBlockConfig reading_last = {
    .attention = with_biases,
    .cross_attention = {.d_in = 12, .d_out = 12, .context_length = 17, .num_heads = 3, .causal = false, .qkv_bias = true},
    .feed_forward = gelu_part,
    .norm_first = false};
constexpr DecoderBlockConfig reading_first = {
    .attention = grouped,
    .cross_attention =
        {.d_in = 12, .d_out = 12, .context_length = 4, .num_heads = 4, .causal = false, .out_proj = false, .num_kv_heads = 2},
    .feed_forward = gated_part,
    .normalization = Normalization::rms};
constexpr LanguageModelConfig gpt_2 = {.vocabulary = 7, .transformer = {.block = layer_first, .num_layers = 2}};
constexpr LanguageModelConfig llama = {
    .vocabulary = 19, .transformer = {.block = rms_first, .num_layers = 2}, .positions = Positions::none, .tied = false};

// Heads with norms and a width of their own, or of which a part rotates; parallel parts.
constexpr LanguageModelConfig of_heads_with_norms = [] {
  LanguageModelConfig config = llama;
  config.transformer.block.attention.head_dim = 5;
  config.transformer.block.attention.rotary_dim = 4;
  config.transformer.block.attention.qk_norm = true;
  return config;
}();
constexpr LanguageModelConfig parallel = {
    .vocabulary = 7,
    .transformer =
        {.block = {.attention = {.d_in = 12, .d_out = 12, .context_length = 5, .num_heads = 2, .rotary = Rotary::halves, .rotary_dim = 2},
                   .feed_forward = gelu_part,
                   .parallel = true},
         .num_layers = 2},
    .positions = Positions::none};

// Convolutions: with and without padding; windows that overlap, adjoin or lie apart; a kernel longer than x.
constexpr Conv1dConfig overlapping = {.in = 3, .out = 5, .kernel = 4};
constexpr Conv1dConfig padded = {.in = 2, .out = 17, .kernel = 5, .stride = 2, .padding = 3};
constexpr Conv1dConfig patches = {.in = 4, .out = 33, .kernel = 3, .stride = 3, .bias = false};
constexpr Conv1dConfig apart = {.in = 5, .out = 4, .kernel = 2, .stride = 4, .padding = 1};
// In groups, one by one, and with a dilation, over tokens and images.
constexpr Conv1dConfig dilated = {.in = 4, .out = 6, .kernel = 3, .stride = 2, .padding = 3, .groups = 2, .dilation = 2};
constexpr Conv1dConfig depthwise = {.in = 21, .out = 21, .kernel = 3, .padding = 1, .groups = 21};
constexpr Conv2dConfig image = {.in = 3, .out = 17, .kernel = 3, .stride = {2, 1}, .padding = 1};
constexpr Conv2dConfig features = {.in = 21, .out = 21, .kernel = {3, 2}, .padding = 1, .bias = false, .groups = 21};
constexpr Conv2dConfig points = {.in = 6, .out = 9, .kernel = 1};
constexpr PoolConfig by_two = {.kernel = 3, .stride = 2, .padding = 1};

// Recurrent layers: of fewer and more features than a vector, and more tokens than are multiplied at a time.
constexpr RecurrentConfig recurrent = {.in = 3, .hidden = 5};
constexpr RecurrentConfig wide_recurrent = {.in = 6, .hidden = 17, .bias = false};

constexpr std::uint32_t crc_of(Activation activation) noexcept {
  constexpr std::uint32_t crcs[] = {0xf6c7e277, 0x8c08360c, 0xf6ecc6f4, 0xd6133163};
  static_assert(std::size(crcs) == kernel::num_activations, "an activation has no CRC here");
  return crcs[static_cast<int>(activation)];
}

// Calls each(workload) for the workloads that the compiler computes, too.
constexpr void for_each_finite_workload(auto&& each) {
  each(Workload<Fma>{"fma", 0x23608a07});
  each(Workload<Exp>{"exp", 0x1692211e});
  each(Workload<Log>{"log", 0xdce39719});
  each(Workload<Sqrt>{"sqrt", 0x11562981});
  each(Workload<Draws<Mt19937>>{"rand and uniform, Mt19937", 0xd0b06a71});
  each(Workload<Draws<Philox4x32>>{"rand and uniform, Philox4x32", 0x54d2546e});
  each(Workload<Initialize<training, Mt19937>>{"initialize, Mt19937", 0x24955a27});
  each(Workload<Dot<1>, Dot<16>, Dot<47>>{"dot", 0x82247381});
  each(Workload<Add<1>, Add<3, 17>>{"add", 0xcb90e2d2});
  each(Workload<Arithmetic<17>>{"add, subtract and multiply, with a row and with a number", 0x0f4ef30d});
  each(Workload<Matmul<1, 1, 1>, Matmul<3, 5, 7>, Matmul<13, 2, 11>, Matmul<6, 3, 2>>{"matmul, odd shapes", 0x366c7f18});
  each(Workload<Matmul<3, 2, 15>, Matmul<3, 2, 16>, Matmul<3, 2, 17>, Matmul<3, 2, 31>, Matmul<3, 2, 32>, Matmul<3, 2, 33>,
                Matmul<3, 2, 47>, Matmul<3, 2, 48>, Matmul<3, 2, 49>, Matmul<2, 2, 63>, Matmul<2, 2, 64>, Matmul<2, 2, 65>>{
      "matmul, columns around multiples of 16", 0xbc1e1272});
  each(Workload<Matmul<15, 16, 5>, Matmul<16, 17, 5>, Matmul<17, 15, 5>, Matmul<33, 31, 4>>{"matmul, rows around multiples of 16",
                                                                                            0xc4390854});
  each(Workload<MatmulOfVector<17, 5>, MatmulOfVector<5, 17>, MatmulOfBatch<2, 3, 4, 9>, MatmulOfBatches<3, 2, 5, 6>>{
      "matmul of vectors and batches", 0x9f8f036c});
  each(Workload<MatmulTransposed<1, 3, 1>, MatmulTransposed<6, 3, 6>, MatmulTransposed<5, 16, 17>, MatmulTransposed<3, 33, 15>,
                MatmulTransposed<2, 31, 33>>{"matmul_transposed", 0x62b1723c});
  each(Workload<Softmax<3, 1>, Softmax<3, 2>, Softmax<3, 3>, Softmax<3, 6>, Softmax<3, 7>>{"softmax of narrow rows", 0x5cb3fc1d});
  each(Workload<Softmax<2, 15>, Softmax<2, 16>, Softmax<2, 17>, Softmax<2, 31>, Softmax<2, 32>, Softmax<2, 33>, Softmax<1, 64>,
                Softmax<1, 129>>{"softmax of wide rows", 0x355cdd33});
  each(Workload<SoftmaxOfExtremes<5>, SoftmaxOfExtremes<33>>{"softmax of extreme scores", 0x97295eaa});
  each(Workload<SoftmaxNaive<3, 6>, SoftmaxNaive<3, 17>>{"softmax_naive", 0xbcf5b4c1});
  each(Workload<Normalize<3, 6>, Normalize<2, 16>, Normalize<2, 49>>{"normalize", 0xef5468d4});
  each(Workload<Dropout<Mt19937, 5, 17>>{"dropout, Mt19937", 0x3e572363});
  each(Workload<Dropout<Philox4x32, 5, 17>>{"dropout, Philox4x32", 0xb6c990a7});
  each(Workload<LinearLayer<3, 2, true, 6>, LinearLayer<17, 33, true, 2, 3>, LinearLayer<5, 16, false, 3>>{"Linear", 0xe5427318});
  each(Workload<StepByStep<one_head, 17>>{"attention, step by step", 0xc2ae0c46});
  each(Workload<Attention<NoMask, 5, 17, 4, 7>>{"scaled_dot_product_attention", 0xbe02b703});
  each(Workload<Attention<Causal, 17, 17, 4, 5>>{"attention, Causal", 0x04f4806b});
  each(Workload<Attention<CausalBottomRight, 9, 15, 4, 5>>{"attention, CausalBottomRight", 0xb7eb144a});
  each(Workload<Attention<BlockMask<7, 17>, 7, 17, 4, 5>>{"attention, BlockMask", 0xb43fa395});
  each(Workload<Attention<KeepMask<17>, 7, 17, 4, 5>>{"attention, KeepMask", 0x42996df9});
  each(Workload<Attention<AdditiveMask<7, 17>, 7, 17, 4, 5>>{"attention, AdditiveMask", 0xa73df77a});
  each(Workload<Forward<SelfAttention<5, 17, 16>, 5, 17, 16>>{"SelfAttention", 0x37277824});
  each(Workload<Forward<CausalAttention<5, 15, 17>, 5, 15, 7>>{"CausalAttention", 0xfe01bc63});
  each(Workload<Forward<StackedCausalAttention<3, 2, 6, 2>, 3, 4, 2, 6>>{"StackedCausalAttention", 0xfce1c3c5});
  each(Workload<ForwardOf<wide_heads, 6>>{"MultiHeadAttention", 0x4c8d3658});
  each(Workload<ForwardOf<causal, 15>, ForwardOf<causal, 16>, ForwardOf<causal, 17>>{"MultiHeadAttention, tokens around 16", 0x92c38874});
  each(Workload<CrossForward<not_causal, 5, 9>>{"MultiHeadAttention, cross", 0x69117d68});
  each(Workload<ForwardOf<not_causal, 3, 5>>{"MultiHeadAttention, batch", 0x616f4820});
  each(Workload<ForwardWithWeights<causal, 9>>{"MultiHeadAttention, with weights", 0x37b1229d});
  each(Workload<ForwardOfSomeTokens<causal, 6>>{"MultiHeadAttention, run-time tokens", 0xdeea4d19});
  each(Workload<ForwardMasked<not_causal, BlockMask<7>, 7>, ForwardMasked<causal, AdditiveMask<7, 7>, 7>>{"MultiHeadAttention, more masks",
                                                                                                          0x2e59cb3b});
  each(Workload<TrainingPass<training, Mt19937, 6>>{"MultiHeadAttention, training, Mt19937", 0x5dda91c6});
  each(Workload<TrainingPass<training, Philox4x32, 2, 5>>{"MultiHeadAttention, training, Philox4x32", 0x404f945c});
  each(Workload<TanhAndErf>{"tanh and erf", 0xb4c76b1c});
  for_each_activation([&]<Activation activation>(const char* name) {
    constexpr std::size_t cols = activation == Activation::relu ? 17 : 33;
    each(Workload<Activated<activation, 3, 7>, Activated<activation, 2, cols>>{name, crc_of(activation)});
  });
  each(Workload<Normalized<LayerNorm<1>, 1>, Normalized<LayerNorm<17>, 17>, Normalized<LayerNorm<48>, 48>>{"LayerNorm", 0x4d96cf47});
  each(Workload<Normalized<RmsNorm<5>, 5>, Normalized<RmsNorm<16>, 16>, Normalized<RmsNorm<33>, 33>>{"RmsNorm", 0xea1801f5});
  each(Workload<Sinusoidal<9, 7>>{"sinusoidal_positions", 0x1c0ae845});
  each(Workload<FeedForwardOf<gelu_part, 5>, FeedForwardOf<gated_part, 3>>{"FeedForward", 0xbd5b75a7});
  each(Workload<CachedAttention<grouped, 9>, CachedAttention<halves, 5>>{"MultiHeadAttention, rotary, by a cache", 0xb2bc3c8f});
  each(Workload<CachedBlock<norm_last, 5>, CachedBlock<rms_first, 3>>{"TransformerBlock", 0xc1236eb5});
  each(Workload<Writes<gpt_2, 3>>{"LanguageModel, as GPT-2", 0xb29b7849});
  each(Workload<Writes<llama, 6>>{"LanguageModel, as Llama", 0x37dc2b5c});
  each(Workload<Int8Layer<1, 1, false, 1>, Int8Layer<15, 2, true, 3>, Int8Layer<16, 33, true, 2, 7>, Int8Layer<33, 16, false, 5>>{
      "Linear, int8", 0x6f059dc8});
  each(Workload<Embedded<5, 17, Weights::int8, 4>>{"Embedding, int8", 0xd77d2f9a});
  each(Workload<FeedForwardOf<in_int8(gelu_part), 5>, FeedForwardOf<in_int8(gated_part), 3>>{"FeedForward, int8", 0x8814c378});
  each(Workload<ForwardOf<in_int8(wide_heads), 6>, ForwardOf<in_int8(not_causal), 2, 5>, CrossForward<in_int8(not_causal), 3, 4>,
                ForwardOfSomeTokens<in_int8(causal), 4>, ForwardMasked<in_int8(causal), AdditiveMask<5, 5>, 5>>{"MultiHeadAttention, int8",
                                                                                                                0xa5d8e77d});
  each(Workload<CachedAttention<in_int8(grouped), 9>, CachedAttention<in_int8(halves), 5>>{"MultiHeadAttention, int8, by a cache",
                                                                                           0xc5249120});
  each(Workload<CachedBlock<in_int8(norm_last), 5>, CachedBlock<in_int8(rms_first), 3>>{"TransformerBlock, int8", 0xaf306180});
  each(Workload<Writes<in_int8(gpt_2), 3>>{"LanguageModel, int8, as GPT-2", 0x55ace5b0});
  each(Workload<Writes<in_int8(llama), 6>>{"LanguageModel, int8, as Llama", 0x8d93e7d0});
  each(Workload<ByCache<with_int8_cache(in_int8(grouped))>>{"MultiHeadAttention, by a cache of int8", 0x4773e67e});
  each(Workload<ForwardOf<with_int8_cache(in_int8(wide_heads)), 6>, CrossForward<with_int8_cache(not_causal), 3, 9>,
                ForwardOfSomeTokens<with_int8_cache(causal), 4>, ForwardMasked<with_int8_cache(causal), AdditiveMask<5, 5>, 5>,
                ForwardMasked<with_int8_cache(in_int8(not_causal)), BlockMask<5, 5>, 5>,
                TrainingPass<with_int8_cache(training), Philox4x32, 2, 5>>{"MultiHeadAttention, keys and values of int8", 0x5a4c0ca4});
  each(Workload<Writes<with_int8_cache(in_int8(llama)), 6>>{"LanguageModel, weights and cache of int8", 0xfa426296});
}

// Workloads with a window: a program of their own where flash is scarce.
constexpr void for_each_workload_with_a_window(auto&& each) {
  each(Workload<CachedAttention<with_window(grouped, 4), 9>, CachedAttention<with_window(halves, 1), 5>,
                Cached<MultiHeadAttention<with_window(one_head, 3)>, 17, 5, 6>>{"MultiHeadAttention, window, by a cache", 0xe615cc8e});
  each(Workload<ForwardOf<with_window(causal, 5), 17>, ForwardOf<with_window(wide_heads, 2), 2, 6>,
                CrossForward<with_window(causal, 3), 9, 5>, ForwardWithWeights<with_window(causal, 4), 9>,
                ForwardOfSomeTokens<with_window(causal, 2), 6>, ForwardMasked<with_window(causal, 3), AdditiveMask<7, 7>, 7>,
                TrainingPass<with_window(training, 3), Philox4x32, 6>>{"MultiHeadAttention, window", 0x5e0d2c4e});
  each(Workload<Writes<with_window(gpt_2, 3), 3>, Writes<with_window(llama, 4), 6>>{"LanguageModel, window", 0x8b35cc61});
  each(Workload<Writes<parallel, 3>, Writes<of_heads_with_norms, 6>, Writes<with_window(in_int8(of_heads_with_norms), 4), 6>,
                Writes<with_int8_cache(in_int8(parallel)), 3>>{"LanguageModel, parallel, norms of heads", 0xd1ef17dc});
  each(
      Workload<Writes<with_window(with_int8_cache(in_int8(llama)), 4), 6>>{"LanguageModel, window, weights and cache of int8", 0x7a80261e});
}

// Sources of other widths, and decoders that read one: a program of their own where flash is scarce.
constexpr void for_each_workload_with_a_source(auto&& each) {
  each(Workload<CrossForward<wide_source, 5, 9>, CrossForward<in_int8(wide_source), 3, 4>,
                CrossForward<with_int8_cache(in_int8(wide_source)), 3, 9>>{"MultiHeadAttention, d_key and d_value", 0x475f6db9});
  each(Workload<ForwardMasked<not_causal, BlockMask<2, 7, 7>, 2, 7>, ForwardMasked<with_int8_cache(in_int8(causal)), KeepMask<2, 5, 5>, 5>>{
      "MultiHeadAttention, a mask for each head", 0xde81cb64});
  each(Workload<CrossForward<with_bias_kv(not_causal, 1), 5, 9>, ForwardMasked<with_bias_kv(causal, 2), AdditiveMask<2, 17, 17>, 17>>{
      "MultiHeadAttention, bias_kv", 0xa282de25});
  each(Workload<DecoderOf<reading_last, 5, 17>, DecoderOf<reading_first, 9, 3>,
                ReadsSource<TransformerDecoder<TransformerDecoderConfig{.block = reading_last, .num_layers = 2}>, 4, 9, 12>>{
      "TransformerDecoder", 0xbb1c5dd3});
  each(Workload<DecoderOf<in_int8(reading_last), 5, 17>, DecoderOf<in_int8(reading_first), 9, 3>>{"TransformerDecoder, int8", 0x6fc6e747});
  each(Workload<DecoderOf<with_int8_cache(in_int8(reading_last)), 5, 17>, DecoderOf<with_int8_cache(reading_first), 9, 3>>{
      "TransformerDecoder, keys and values of int8", 0xd256c132});
}

// Workloads over tokens.
constexpr void for_each_workload_over_tokens(auto&& each) {
  each(Workload<Convolved<overlapping, 9>, Convolved<padded, 6, 2>, Convolved<padded, 1>, Convolved<patches, 17>, Convolved<apart, 11, 2>,
                ConvolutionForms<padded, 7>>{"Conv1d", 0x0018798c});
  each(Workload<Convolved<in_int8(overlapping), 9>, Convolved<in_int8(padded), 6, 2>, Convolved<in_int8(padded), 1>,
                Convolved<in_int8(patches), 17>, Convolved<in_int8(apart), 11, 2>, ConvolutionForms<in_int8(padded), 7>>{"Conv1d, int8",
                                                                                                                         0x9dc1a79e});
  each(Workload<Recurred<Gru<recurrent>, 1>, Recurred<Gru<recurrent>, 7>, Recurred<Gru<wide_recurrent>, 5>>{"Gru", 0x63e9ffff});
  each(Workload<Recurred<Gru<in_int8(recurrent)>, 7>, Recurred<Gru<in_int8(wide_recurrent)>, 5>>{"Gru, int8", 0x1293550a});
  each(Workload<Recurred<Lstm<recurrent>, 1>, Recurred<Lstm<recurrent>, 7>, Recurred<Lstm<wide_recurrent>, 5>>{"Lstm", 0xde6d1d1f});
  each(Workload<Recurred<Lstm<in_int8(recurrent)>, 7>, Recurred<Lstm<in_int8(wide_recurrent)>, 5>>{"Lstm, int8", 0x57d69a82});
  each(Workload<Convolved<dilated, 9, 2>, Convolved<depthwise, 6>, ConvolvedImages<image, 2, 5, 6>, ConvolvedImages<features, 4, 5>,
                ConvolvedImages<points, 3, 4>>{"Conv1d and Conv2d, in groups", 0x4a43edc7});
  each(Workload<Convolved<in_int8(dilated), 9, 2>, Convolved<in_int8(depthwise), 6>, ConvolvedImages<in_int8(image), 2, 5, 6>,
                ConvolvedImages<in_int8(features), 4, 5>, ConvolvedImages<in_int8(points), 3, 4>>{"Conv1d and Conv2d, in groups, int8",
                                                                                                  0x6247d34f});
  each(Workload<PooledWindows<max_pool2d<by_two>, Tensor<float, 2, 5, 4, 17>>, PooledWindows<avg_pool2d<by_two>, Tensor<float, 5, 4, 3>>,
                PooledWindows<max_pool1d<by_two>, Matrix<float, 6, 5>>, PooledWindows<avg_pool1d<by_two>, Tensor<float, 2, 6, 5>>,
                PooledWindows<adaptive_avg_pool1d<3>, Matrix<float, 5, 17>>>{"pools over windows", 0x20fc3fdd});
  each(Workload<Pooled<call_mean, 1, 1>, Pooled<call_mean, 3, 17>, Pooled<call_mean, 7, 5>>{"mean", 0xd1610a9c});
  each(Workload<Pooled<call_largest, 1, 1>, Pooled<call_largest, 3, 17>, Pooled<call_largest, 7, 5>>{"largest", 0x2c58ab5e});
  each(Workload<Standardized<3, 7>, Standardized<2, 16>, Standardized<1, 33>>{"standardize", 0x648fe1f9});
}

// Workloads of single primitives: too much flash for the smallest board, which runs unit/elementwise and unit/reduce.
constexpr void for_each_workload_of_primitives(auto&& each) {
  each(Workload<Elementwise<2, 17>>{"elementwise", 0x8f04694d});
  each(Workload<Reduced<Matrix<float, 3, 17>, 1>, Reduced<Matrix<float, 5, 33>, 0>, Reduced<Tensor<float, 2, 3, 20>, 0, 2>>{"reduce",
                                                                                                                            0xcba0bbe9});
}

// The remaining workloads: NaN and infinity are no constant expressions, and 65 tokens take the compiler too long.
constexpr void for_each_other_workload(auto&& each) {
  each(Workload<ArithmeticNotFinite>{"NaN and infinity, arithmetic", 0x512f9f51});
  each(Workload<RowsNotFinite<5>, RowsNotFinite<17>>{"NaN and infinity, rows", 0x833d1180});
  each(Workload<AttentionNotFinite<6, 3>>{"NaN and infinity, attention", 0x032e52a3});
  each(Workload<ForwardOf<large, 65>>{"MultiHeadAttention, 65 tokens", 0x3fbaefb5});
  each(Workload<ActivationsNotFinite>{"NaN and infinity, activations", 0x022a2be6});
  each(Workload<Int8RowsOfExtremes>{"NaN, infinity and extremes, int8", 0x41a4b27f});
  each(Workload<PooledNotFinite<3, 17>>{"NaN and infinity, over tokens", 0x0cb1955d});
  each(Workload<ByCacheOfExtremes<with_int8_cache(in_int8(grouped))>>{"NaN, infinity and extremes, cache of int8", 0xa237376d});
}

}  // namespace tinyattn::test
