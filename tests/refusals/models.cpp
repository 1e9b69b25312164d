// SPDX-License-Identifier: MIT
//
// Models that there cannot be, and calls of norms, caches, transformers and language models.
#include "tinyattn/language_model.hpp"

using namespace tinyattn;

constexpr AttentionConfig heads{.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2};
constexpr FeedForwardConfig hidden_features{.d_model = 4, .d_hidden = 8};
constexpr TransformerConfig body{.block = {.attention = heads, .feed_forward = hidden_features}, .num_layers = 2};
constexpr LanguageModelConfig config{.vocabulary = 9, .transformer = body};

using Layer = MultiHeadAttention<heads>;
using Open = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .causal = false}>;
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
extern Vector<Token, 6> tokens;

// --- kv_heads_not_divisible: four heads cannot share three
// expect: num_heads must be divisible by num_kv_heads
MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 4, .num_kv_heads = 3}> grouped;

// --- more_kv_heads_than_heads: two heads do not need four
// expect: num_heads must be divisible by num_kv_heads
MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2, .num_kv_heads = 4}> grouped;

// --- odd_head_for_rotary: three features are no pairs
// expect: head_dim must be even for rotary positions
MultiHeadAttention<AttentionConfig{.d_in = 6, .d_out = 6, .context_length = 6, .num_heads = 2, .rotary = Rotary::halves}> turned;

// --- rotary_base_zero: no angle has the base 0
// expect: rotary_base must not be zero
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .rotary = Rotary::halves, .rotary_base = 0}> turned;

// --- hidden_width_zero: a feed-forward layer without hidden features
// expect: d_model and d_hidden must not be zero
// lines: 80
FeedForward<FeedForwardConfig{.d_model = 4, .d_hidden = 0}> empty;

// --- widths_differ: four features for eight
// expect: d_model must equal d_in and d_out
// lines: 30
TransformerBlock<BlockConfig{.attention = heads, .feed_forward = {.d_model = 8, .d_hidden = 8}}> block;

// --- widths_of_attention_differ: a residual needs what came in
// expect: d_model must equal d_in and d_out
// lines: 30
TransformerBlock<BlockConfig{.attention = {.d_in = 4, .d_out = 8, .context_length = 6}, .feed_forward = hidden_features}> block;

// --- unknown_rotary: an enumerator that there is not
// expect: rotary must be Rotary::none, interleaved or halves
MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .rotary = static_cast<Rotary>(9)}> turned;

// --- unknown_activation: the same of an activation
// expect: activation must be an enumerator of Activation
FeedForward<FeedForwardConfig{.d_model = 4, .d_hidden = 8, .activation = static_cast<Activation>(-1)}> activated;

// --- unknown_normalization: the same of a norm
// expect: normalization must be Normalization::layer or rms
TransformerBlock<BlockConfig{.attention = heads, .feed_forward = hidden_features, .normalization = static_cast<Normalization>(9)}> block;

// --- unknown_positions: the same of positions
// expect: positions must be Positions::none, learned or sinusoidal
LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = body, .positions = static_cast<Positions>(9)}> placed;

// --- no_layers: a transformer without blocks
// expect: num_layers must not be zero
// lines: 40
Transformer<TransformerConfig{.block = body.block, .num_layers = 0}> nothing;

// --- no_vocabulary: a model without words
// expect: vocabulary must not be zero
// lines: 40
LanguageModel<LanguageModelConfig{.vocabulary = 0, .transformer = body}> silent;

// --- too_large_vocabulary: more words than a Token counts
// expect: vocabulary must not exceed 65,536
LanguageModel<LanguageModelConfig{.vocabulary = 65537, .transformer = body}> wordy;

// --- tied_head_with_bias: an embedding has no bias
// expect: a tied head has no bias
LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = body, .head_bias = true}> biased;

// --- norm_of_other_width: five features for a norm of four
// expect: x must have as many columns as the norm has features
void use(const Matrix<float, 6, 5>& wide, Matrix<float, 6, 5>& result) { norm.forward(wide, result); }

// --- norm_into_constant: nothing can be written there
// expect: forward takes (x, out)
void use() { norm.forward(x, Matrix<float, 6, 4>{}); }

// --- feed_forward_of_other_width: five features for four
// expect: x must have d_model columns
// lines: 30
void use(const Matrix<float, 6, 5>& wide) { feed_forward.forward(wide, out, feed_forward_workspace); }

// --- feed_forward_into_constant: nothing can be written there
// expect: out must hold floats, and not be const
void use() { feed_forward.forward(x, constant, feed_forward_workspace); }

// --- feed_forward_into_other_shape: six rows into five
// expect: out must have the shape of x
void use(Matrix<float, 5, 4>& fewer) { feed_forward.forward(x, fewer, feed_forward_workspace); }

// --- feed_forward_with_other_workspace: a workspace is a layer's own
// expect: workspace is this layer's Workspace
void use() { feed_forward.forward(x, out, decoder_workspace); }

// --- embedding_into_fewer_rows: six tokens into five rows
// expect: out must have a row for each token, and the columns of the embedding
Status use(Matrix<float, 5, 4>& fewer) { return model.token_embedding.forward(tokens, fewer); }

// --- embedding_into_constant: nothing can be written there
// expect: out must hold floats, and not be const
Status use() { return model.token_embedding.forward(tokens, constant); }

// --- embedding_of_ints: a token has sixteen bits
// expect: forward takes (tokens, out): a Vector<Token, N>
Status use(const Vector<int, 6>& ints) { return model.token_embedding.forward(ints, out); }

// --- cache_of_open_layer: its first tokens see the later ones
// expect: a layer that is not causal has no cache
Open::Cache open_cache;

// --- cached_batch: one cache, two texts
// expect: a call with a cache takes a matrix
Status use(const Tensor<float, 2, 6, 4>& both, Tensor<float, 2, 6, 4>& results) {
  return layer.forward(both, cache, results, cache_workspace);
}

// --- cached_columns: five features for four
// expect: x must have d_in columns
Status use(const Matrix<float, 1, 5>& wide) { return layer.forward(wide, cache, out, cache_workspace); }

// --- cached_into_constant: nothing can be written there
// expect: out must hold floats, and not be const
Status use() { return layer.forward(x, cache, constant, cache_workspace); }

// --- cached_with_workspace_of_other_calls: a cache has a workspace of its own
// expect: its Cache::Workspace
Status use(Layer::Workspace& workspace) { return layer.forward(x, cache, out, workspace); }

// --- attention_with_cache_of_block: the workspace of a block's cache has other rows
// expect: its Cache::Workspace
constexpr BlockConfig of_block = {.attention = heads, .feed_forward = {.d_model = 4, .d_hidden = 4}};
using Of = TransformerBlock<of_block>;
Status use(const Of& block, Of::Cache& its, Of::Cache::Workspace& room) { return block.attention.forward(x, its, out, room); }

// --- embedding_drawn: torch.randn is not replayed
// expect: torch.randn is not
void use(Embedding<3, 4>& table, Mt19937& generator) { initialize(table, generator); }

// --- constant_cache: a call keeps keys in it
// expect: forward takes (x, out, workspace), with num_tokens and a mask or a cache behind x
Status use(const Layer::Cache& constant_cache) { return layer.forward(x, constant_cache, out, cache_workspace); }

// --- transformer_of_other_width: five features for four
// expect: x must have d_in columns
void use(const Matrix<float, 6, 5>& wide) { decoder.forward(wide, out, decoder_workspace); }

// --- transformer_of_more_tokens: seven tokens for six
// expect: more tokens than context_length
void use(const Matrix<float, 7, 4>& longer, Matrix<float, 7, 4>& result) { decoder.forward(longer, result, decoder_workspace); }

// --- transformer_into_constant: nothing can be written there
// expect: out must hold floats, and not be const
void use() { decoder.forward(x, constant, decoder_workspace); }

// --- transformer_with_bools: true does not say whether it hides
// expect: this is no mask
void use(const Matrix<bool, 6, 6>& bools) { decoder.forward(x, bools, out, decoder_workspace); }

// --- transformer_with_workspace_of_attention: a workspace is a module's own
// expect: forward takes (x, out, workspace)
void use(Layer::Workspace& workspace) { decoder.forward(x, out, workspace); }

// --- transformer_with_cache_of_attention: each block has a cache
// expect: with a Cache and its Workspace
Status use() { return decoder.forward(x, cache, out, decoder_cache_workspace); }

// --- block_with_cache_of_transformer: a block has one cache
// expect: with a Cache and its Workspace
Status use() { return decoder.blocks[0].forward(x, decoder_cache, out, decoder_cache_workspace); }

// --- transformer_batch_with_cache: one cache, two texts
// expect: a call with a cache takes a matrix
Status use(const Tensor<float, 2, 6, 4>& both, Tensor<float, 2, 6, 4>& results) {
  return decoder.forward(both, decoder_cache, results, decoder_cache_workspace);
}

// --- unread_status: too many tokens must not go unnoticed
// expect: nodiscard
void use() { decoder.forward(x, decoder_cache, out, decoder_cache_workspace); }

// --- more_tokens_for_model: seven tokens for six
// expect: more tokens than context_length
Status use(const Vector<Token, 7>& longer, Matrix<float, 7, 9>& logits) { return model.forward(longer, logits, model_workspace); }

// --- logits_of_other_vocabulary: eight columns for nine words
// expect: logits must have a row for each token, of vocabulary columns
Status use(Matrix<float, 6, 8>& logits) { return model.forward(tokens, logits, model_workspace); }

// --- logits_of_other_length: five rows for six tokens
// expect: logits must have a row for each token, of vocabulary columns
Status use(Matrix<float, 5, 9>& logits) { return model.forward(tokens, logits, model_workspace); }

// --- constant_logits: nothing can be written there
// expect: logits must hold floats, and not be const
Status use(const Matrix<float, 6, 9>& logits) { return model.forward(tokens, logits, model_workspace); }

// --- cached_logits_of_all_tokens: those of the last one only
// expect: logits must
Status use(Matrix<float, 6, 9>& logits) { return model.forward(tokens, model_cache, logits, model_cache_workspace); }

// --- model_with_workspace_of_transformer: a workspace is a module's own
// expect: forward takes (tokens, logits, workspace)
Status use(Matrix<float, 6, 9>& logits) { return model.forward(tokens, logits, decoder_workspace); }

// --- model_with_cache_of_transformer: a cache is a module's own
// expect: forward takes (tokens, logits, workspace)
Status use(Vector<float, 9>& logits) { return model.forward(tokens, decoder_cache, logits, decoder_cache_workspace); }

// --- model_of_ints: a token has sixteen bits
// expect: forward takes (tokens, logits, workspace)
Status use(const Vector<int, 6>& ints, Matrix<float, 6, 9>& logits) { return model.forward(ints, logits, model_workspace); }

// --- braced_tokens: 0 is a token, no null pointer
// expect: a view of tokens is not made of braces
Status use(Vector<float, 9>& logits) { return model.forward({0, 5}, model_cache, logits, model_cache_workspace); }

// --- tokens_with_gaps: between the rows of the view lie other tokens
// expect: forward takes (tokens, logits, workspace)
Status use(const Matrix<Token, 2, 3>& table, Vector<float, 9>& logits) {
  return model.forward(columns<2>(table, 0), model_cache, logits, model_cache_workspace);
}

// --- view_of_tokens_with_gaps: outside of a call
// expect: a view of tokens has no gaps
auto use(const Matrix<Token, 2, 3>& table) { return TokenView(columns<2>(table, 0)); }

// --- tokens_at_a_null_pointer: not even five
// expect: at a null pointer are no tokens
Status use(Vector<float, 9>& logits) { return model.forward({nullptr, 5}, model_cache, logits, model_cache_workspace); }

// --- braces_behind_a_cache: no shape can be read from them
// expect: (x, cache, out, workspace) with a Cache and its Workspace
Status use() { return decoder.forward({1, 2}, decoder_cache, out, decoder_cache_workspace); }

// --- sample_constant_logits: they are overwritten
// expect: logits must hold floats, and not be const: sample overwrites them
Token use(const Vector<float, 9>& logits, Mt19937& generator) { return sample(logits, Sampling{}, generator); }

// --- sample_of_several_tokens: two rows of logits
// expect: logits must be a vector: those of one token
Token use(Matrix<float, 2, 9>& logits, Mt19937& generator) { return sample(logits, Sampling{}, generator); }

// --- sample_without_generator: what would it draw from
// expect: sample takes (logits, sampling, generator)
Token use(Vector<float, 9>& logits) { return sample(logits, Sampling{}); }

// --- argmax_of_several_tokens: two rows of logits
// expect: logits must be a vector: those of one token
Token use(const Matrix<float, 2, 9>& logits) { return argmax(logits); }

// --- argmax_of_ints: logits are floats
// expect: logits must hold floats
Token use(const Vector<int, 9>& logits) { return argmax(logits); }
