// SPDX-License-Identifier: MIT
//
// Impossible models, and wrong calls of norms, caches, transformers and language models.
#include "tinyattn/language_model.hpp"

using namespace tinyattn;

constexpr AttentionConfig heads{.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2};
constexpr FeedForwardConfig hidden_features{.d_model = 4, .d_hidden = 8};
constexpr TransformerConfig body{.block = {.attention = heads, .feed_forward = hidden_features}, .num_layers = 2};
constexpr LanguageModelConfig config{.vocabulary = 9, .transformer = body};

using Layer = MultiHeadAttention<heads>;
using Open = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .causal = false}>;
using Block = TransformerBlock<BlockConfig{.attention = heads, .feed_forward = {.d_model = 4, .d_hidden = 4}}>;
using Decoder = Transformer<body>;
using Model = LanguageModel<config>;

extern const Layer layer;
extern const Decoder decoder;
extern const Model model;
extern const FeedForward<hidden_features> feed_forward;
extern const LayerNorm<4> norm;
extern Layer::Cache cache;
extern Layer::Cache::Workspace cache_workspace;
extern Decoder::Workspace decoder_workspace;
extern Decoder::Cache decoder_cache;
extern Decoder::Cache::Workspace decoder_cache_workspace;
extern Model::Workspace model_workspace;
extern Model::Cache model_cache;
extern Model::Cache::Workspace model_cache_workspace;
extern FeedForward<hidden_features>::Workspace feed_forward_workspace;
extern Matrix<float, 6, 4> x, out;
extern const Matrix<float, 6, 4> constant;
extern Matrix<float, 7, 4> seven;
extern Tensor<float, 2, 6, 4> both;
extern Matrix<Token, 2, 3> token_table;
extern Vector<Token, 6> tokens;
extern Vector<float, 9> last_logits;

// expect: num_heads must be divisible by num_kv_heads
MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 4, .num_kv_heads = 3}> kv_heads_not_divisible;
MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2, .num_kv_heads = 4}> more_kv_heads_than_heads;

// expect: head_dim must be even for rotary positions
MultiHeadAttention<AttentionConfig{.d_in = 6, .d_out = 6, .context_length = 6, .num_heads = 2, .rotary = Rotary::halves}>
    odd_head_for_rotary;

// expect: rotary_base must not be zero
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .rotary = Rotary::halves, .rotary_base = 0}>
    rotary_base_zero;

// expect: d_model and d_hidden must not be zero
// lines: 80
FeedForward<FeedForwardConfig{.d_model = 4, .d_hidden = 0}> hidden_width_zero;

// expect: d_model must equal d_in and d_out
// lines: 30
TransformerBlock<BlockConfig{.attention = heads, .feed_forward = {.d_model = 8, .d_hidden = 8}}> widths_differ;
// lines: 30
// a residual adds the input to the output, so their widths must be equal
TransformerBlock<BlockConfig{.attention = {.d_in = 4, .d_out = 8, .context_length = 6}, .feed_forward = hidden_features}>
    widths_of_attention_differ;

// expect: rotary must be Rotary::none, interleaved or halves
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .rotary = static_cast<Rotary>(9)}> unknown_rotary;

// expect: activation must be an enumerator of Activation
FeedForward<FeedForwardConfig{.d_model = 4, .d_hidden = 8, .activation = static_cast<Activation>(-1)}> unknown_activation;

// expect: normalization must be Normalization::layer or rms
TransformerBlock<BlockConfig{.attention = heads, .feed_forward = hidden_features, .normalization = static_cast<Normalization>(9)}>
    unknown_normalization;

// expect: positions must be Positions::none, learned or sinusoidal
LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = body, .positions = static_cast<Positions>(9)}> unknown_positions;

// expect: num_layers must not be zero
// lines: 40
Transformer<TransformerConfig{.block = body.block, .num_layers = 0}> no_layers;

// expect: vocabulary must not be zero
// lines: 40
LanguageModel<LanguageModelConfig{.vocabulary = 0, .transformer = body}> no_vocabulary;

// expect: vocabulary must not exceed 65,536
LanguageModel<LanguageModelConfig{.vocabulary = 65537, .transformer = body}> too_large_vocabulary;

// expect: a tied head has no bias
LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = body, .head_bias = true}> tied_head_with_bias;

// expect: x must have as many columns as the norm has features
void norm_of_other_width(const Matrix<float, 6, 5>& wide, Matrix<float, 6, 5>& result) { norm.forward(wide, result); }

// expect: forward takes (x, out)
void norm_into_constant() { norm.forward(x, Matrix<float, 6, 4>{}); }

// expect: x must have d_model columns
// lines: 30
void feed_forward_of_other_width(const Matrix<float, 6, 5>& wide) { feed_forward.forward(wide, out, feed_forward_workspace); }

// expect: out must hold floats, and not be const
void feed_forward_into_constant() { feed_forward.forward(x, constant, feed_forward_workspace); }
Status embedding_into_constant() { return model.token_embedding.forward(tokens, constant); }
Status cached_into_constant() { return layer.forward(x, cache, constant, cache_workspace); }
void transformer_into_constant() { decoder.forward(x, constant, decoder_workspace); }

// expect: out must have the shape of x
void feed_forward_into_other_shape(Matrix<float, 5, 4>& fewer) { feed_forward.forward(x, fewer, feed_forward_workspace); }

// expect: workspace is this layer's Workspace
void feed_forward_with_other_workspace() { feed_forward.forward(x, out, decoder_workspace); }

// expect: out must have a row for each token, and the columns of the embedding
Status embedding_into_fewer_rows(Matrix<float, 5, 4>& fewer) { return model.token_embedding.forward(tokens, fewer); }

// expect: forward takes (tokens, out): a Vector<Token, N>
// tokens have sixteen bits
Status embedding_of_ints(const Vector<int, 6>& ints) { return model.token_embedding.forward(ints, out); }

// expect: a layer that is not causal has no cache
// its earlier tokens attend to later ones
Open::Cache cache_of_open_layer;

// expect: a call with a cache takes a matrix
Status cached_batch() { return layer.forward(both, cache, both, cache_workspace); }
Status transformer_batch_with_cache() { return decoder.forward(both, decoder_cache, both, decoder_cache_workspace); }

// expect: x must have d_in columns
Status cached_columns(const Matrix<float, 1, 5>& wide) { return layer.forward(wide, cache, out, cache_workspace); }
void transformer_of_other_width(const Matrix<float, 6, 5>& wide) { decoder.forward(wide, out, decoder_workspace); }

// expect: its Cache::Workspace
Status cached_with_workspace_of_other_calls(Layer::Workspace& workspace) { return layer.forward(x, cache, out, workspace); }
// the workspace of a block's cache has another layout
Status attention_with_cache_of_block(Block::Cache& its, Block::Cache::Workspace& room) { return layer.forward(x, its, out, room); }

// expect: torch.randn is not
void embedding_drawn(Embedding<3, 4>& table, Mt19937& generator) { initialize(table, generator); }

// expect: forward takes (x, out, workspace), with num_tokens and a mask or a cache after x
Status constant_cache(const Layer::Cache& constant_cache) { return layer.forward(x, constant_cache, out, cache_workspace); }

// expect: more tokens than context_length
void transformer_of_more_tokens() { decoder.forward(seven, seven, decoder_workspace); }
Status more_tokens_for_model(const Vector<Token, 7>& longer, Matrix<float, 7, 9>& logits) {
  return model.forward(longer, logits, model_workspace);
}

// expect: this is no mask
void transformer_with_bools(const Matrix<bool, 6, 6>& bools) { decoder.forward(x, bools, out, decoder_workspace); }

// expect: forward takes (x, out, workspace)
void transformer_with_workspace_of_attention(Layer::Workspace& workspace) { decoder.forward(x, out, workspace); }

// expect: with a Cache and its Workspace
Status transformer_with_cache_of_attention() { return decoder.forward(x, cache, out, decoder_cache_workspace); }
Status block_with_cache_of_transformer() { return decoder.blocks[0].forward(x, decoder_cache, out, decoder_cache_workspace); }

// expect: nodiscard
void unread_status() { decoder.forward(x, decoder_cache, out, decoder_cache_workspace); }

// expect: logits must have a row for each token, of vocabulary columns
Status logits_of_other_vocabulary(Matrix<float, 6, 8>& logits) { return model.forward(tokens, logits, model_workspace); }
Status logits_of_other_length(Matrix<float, 5, 9>& logits) { return model.forward(tokens, logits, model_workspace); }

// expect: logits must hold floats, and not be const
Status constant_logits(const Matrix<float, 6, 9>& logits) { return model.forward(tokens, logits, model_workspace); }

// expect: logits must
Status cached_logits_of_all_tokens(Matrix<float, 6, 9>& logits) {
  return model.forward(tokens, model_cache, logits, model_cache_workspace);
}

// expect: forward takes (tokens, logits, workspace)
Status model_with_workspace_of_transformer(Matrix<float, 6, 9>& logits) { return model.forward(tokens, logits, decoder_workspace); }
Status model_with_cache_of_transformer() { return model.forward(tokens, decoder_cache, last_logits, decoder_cache_workspace); }
Status model_of_ints(const Vector<int, 6>& ints, Matrix<float, 6, 9>& logits) { return model.forward(ints, logits, model_workspace); }
// the rows of the view are not next to each other
Status tokens_with_gaps() { return model.forward(columns<2>(token_table, 0), model_cache, last_logits, model_cache_workspace); }

// expect: a view of tokens is not made of braces
// 0 is a token here, not a null pointer
Status braced_tokens() { return model.forward({0, 5}, model_cache, last_logits, model_cache_workspace); }

// expect: a view of tokens has no gaps
auto view_of_tokens_with_gaps() { return TokenView(columns<2>(token_table, 0)); }

// expect: at a null pointer are no tokens
Status tokens_at_a_null_pointer() { return model.forward({nullptr, 5}, model_cache, last_logits, model_cache_workspace); }

// expect: (x, cache, out, workspace) with a Cache and its Workspace
Status braces_behind_a_cache() { return decoder.forward({1, 2}, decoder_cache, out, decoder_cache_workspace); }

// expect: logits must hold floats, and not be const: sample overwrites them
Token sample_constant_logits(const Vector<float, 9>& logits, Mt19937& generator) { return sample(logits, Sampling{}, generator); }

// expect: logits must be a vector: those of one token
Token sample_of_several_tokens(Matrix<float, 2, 9>& logits, Mt19937& generator) { return sample(logits, Sampling{}, generator); }
Token argmax_of_several_tokens(const Matrix<float, 2, 9>& logits) { return argmax(logits); }

// expect: sample takes (logits, sampling, generator)
Token sample_without_generator() { return sample(last_logits, Sampling{}); }

// expect: logits must hold floats
Token argmax_of_ints(const Vector<int, 9>& logits) { return argmax(logits); }
