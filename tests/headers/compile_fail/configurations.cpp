// SPDX-License-Identifier: MIT
//
// Impossible layers and models.
#include "given.hpp"

// --- Attention ---

// expect in 25 lines: d_in and d_out must not be zero
MultiHeadAttention<AttentionConfig{.d_in = 0, .d_out = 4, .context_length = 6}> no_features;
// expect: context_length must not be zero
CausalAttention<3, 2, 0> no_context;
// expect: num_heads must not be zero
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 0}> no_heads;
StackedCausalAttention<3, 2, 6, 0> no_stacked_heads;
// expect: d_out must be divisible by num_heads
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 5, .context_length = 6, .num_heads = 2}> d_out_not_divisible;
// expect: dropout must lie in [0, 1]
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .dropout = 1.5}> dropout_rate_above_one;
// expect: residual_dropout must lie in [0, 1]
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .residual_dropout = -0.1}> residual_dropout_rate_below_zero;
// expect: num_heads must be divisible by num_kv_heads
MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 4, .num_kv_heads = 3}> kv_heads_not_divisible;
MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2, .num_kv_heads = 4}> more_kv_heads_than_heads;
// expect: head_dim must be even for rotary positions
MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 3, .context_length = 6, .rotary = Rotary::halves}> odd_head_for_rotary;
// expect: rotary_dim must be even, and at most head_dim
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .rotary = Rotary::halves, .rotary_dim = 6}>
    rotary_dim_beyond_head;
// expect: a head_dim needs out_proj
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .out_proj = false, .head_dim = 3}> head_dim_without_out_proj;
// expect: rotary must be Rotary::none, interleaved or halves
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .rotary = static_cast<Rotary>(9)}> unknown_rotary;
// expect: weights must be Weights::f32 or int8
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .weights = static_cast<Weights>(9)}> unknown_weights;
// expect: cache must be Weights::f32 or int8
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .cache = static_cast<Weights>(9)}> unknown_cache;
// expect: rotary_base must not be zero
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .rotary = Rotary::halves, .rotary_base = 0}>
    rotary_base_zero;
// expect: a workspace has more bytes than this target can address
// 2^60 tokens of 4 floats each, if std::size_t has 64 bits: the byte count overflows it
MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 4, .context_length = std::size_t{1} << (8 * sizeof(std::size_t) - 4)}>::Workspace
    too_large_workspace;
// expect: a layer that is not causal has no cache
// its earlier tokens attend to later ones
SelfAttention<4, 4, 6>::Cache cache_of_open_layer;
// expect: a window needs causal
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .causal = false, .window = 3}> window_of_open_layer;
// expect: a cache of int8 has at most 66,311 tokens
MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 66312, .cache = Weights::int8}>::Cache too_long_cache_of_int8;
MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 66312, .causal = false, .cache = Weights::int8}>::Workspace
    too_long_context_of_int8;

// --- Models ---

// expect: d_model and d_hidden must not be zero
FeedForward<FeedForwardConfig{.d_model = 4, .d_hidden = 0}> hidden_width_zero;
// expect: activation must be an enumerator of Activation
FeedForward<FeedForwardConfig{.d_model = 4, .d_hidden = 8, .activation = static_cast<Activation>(-1)}> unknown_activation;
// expect: weights must be Weights::f32 or int8
FeedForward<FeedForwardConfig{.d_model = 4, .d_hidden = 8, .weights = static_cast<Weights>(9)}> unknown_weights_of_feed_forward;
// expect: a parallel block needs norm_first
TransformerBlock<BlockConfig{.attention = heads, .feed_forward = hidden, .norm_first = false, .parallel = true}> parallel_and_norm_last;
// expect: d_model must equal d_in and d_out
TransformerBlock<BlockConfig{.attention = heads, .feed_forward = {.d_model = 8, .d_hidden = 8}}> widths_differ;
// a residual adds the input to the output, so their widths must be equal
TransformerBlock<BlockConfig{.attention = {.d_in = 4, .d_out = 8, .context_length = 6}, .feed_forward = hidden}> widths_of_attention_differ;
// expect: cross_attention is neither causal nor rotary
TransformerDecoderBlock<DecoderBlockConfig{.attention = heads, .cross_attention = heads, .feed_forward = hidden}> causal_source;
// expect: a layer with bias_kv has no window, and keys and values of floats
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .window = 3, .bias_kv = 1}> biases_of_a_window;
// expect: a layer of a block has no bias_kv
TransformerBlock<BlockConfig{.attention = {.d_in = 4, .d_out = 4, .context_length = 6, .bias_kv = 1}, .feed_forward = hidden}>
    biases_of_block;
// expect: a layer with bias_kv has no initial values
void initial_biases(MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .bias_kv = 1}>& its) {
  initialize(its, generator);
}
// expect: a layer with bias_kv has no cache
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .bias_kv = 1}>::Cache cache_of_biases;
// expect: a memory has one width, d_key and d_value
TransformerDecoderBlock<DecoderBlockConfig{.attention = heads,
                                           .cross_attention = {.d_in = 4, .d_out = 4, .context_length = 6, .causal = false, .d_key = 9},
                                           .feed_forward = hidden}>
    two_widths_of_memory;
// expect: d_model must equal d_in and d_out of cross_attention
TransformerDecoderBlock<DecoderBlockConfig{
    .attention = heads, .cross_attention = {.d_in = 8, .d_out = 4, .context_length = 6, .causal = false}, .feed_forward = hidden}>
    widths_of_source_differ;
// expect: normalization must be Normalization::layer or rms
TransformerBlock<BlockConfig{.attention = heads, .feed_forward = hidden, .normalization = static_cast<Normalization>(9)}>
    unknown_normalization;
// expect: num_layers must not be zero
Transformer<TransformerConfig{.block = body.block, .num_layers = 0}> no_layers;
// expect: positions must be Positions::none, learned or sinusoidal
LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = body, .positions = static_cast<Positions>(9)}> unknown_positions;
// expect: vocabulary must not be zero
LanguageModel<LanguageModelConfig{.vocabulary = 0, .transformer = body}> no_vocabulary;
// expect: vocabulary must not exceed 65,536
LanguageModel<LanguageModelConfig{.vocabulary = 65537, .transformer = body}> too_large_vocabulary;
// expect: a tied head has no bias
LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = body, .head_bias = true}> tied_head_with_bias;
