// SPDX-License-Identifier: MIT
//
// Wrong calls of norms, caches, transformers and language models.
#include "given.hpp"

using Block = Decoder::Block;

// --- Norms, feed-forward parts, embeddings ---

// expect: x must have as many columns as the layer has inputs
void norm_of_other_width() { norm.forward(narrow, narrow); }
// expect: forward takes (x, out)
void norm_into_constant() { norm.forward(x, Matrix<float, 6, 4>{}); }
// expect: x must have as many columns as the layer has inputs
void feed_forward_of_other_width() { feed_forward.forward(narrow, out, feed_forward_workspace); }
// expect: out must hold floats, and not be const
void feed_forward_into_constant() { feed_forward.forward(x, constant, feed_forward_workspace); }
Status embedding_into_constant() { return model.token_embedding.forward(tokens, constant); }
Status cached_into_constant() { return layer.forward(x, cache, constant, cache_workspace); }
void transformer_into_constant() { decoder.forward(x, constant, decoder_workspace); }
// expect: out must have the rows of x and a column for each output
void feed_forward_into_other_shape() { feed_forward.forward(x, shorter, feed_forward_workspace); }
// expect: workspace is this layer's Workspace
void feed_forward_with_other_workspace() { feed_forward.forward(x, out, decoder_workspace); }
// expect: out must have a row for each token, and the columns of the embedding
Status embedding_into_fewer_rows() { return model.token_embedding.forward(tokens, shorter); }
// expect: forward takes (tokens, out): a Vector<Token, N>
// tokens have sixteen bits
Status embedding_of_ints() { return model.token_embedding.forward(ints, out); }
// expect: weights are drawn as floats
void embedding_drawn(Embedding<3, 4, Weights::int8>& table) { initialize(table, generator); }

// --- Caches and transformers ---

// expect: a call with a cache takes a matrix
Status cached_batch() { return layer.forward(batch, cache, batch, cache_workspace); }
Status transformer_batch_with_cache() { return decoder.forward(batch, decoder_cache, batch, decoder_cache_workspace); }
// expect: x must have d_in columns
Status cached_columns() { return layer.forward(narrow, cache, out, cache_workspace); }
void transformer_of_other_width() { decoder.forward(narrow, out, decoder_workspace); }
// expect: its Cache::Workspace
Status cached_with_workspace_of_other_calls() { return layer.forward(x, cache, out, workspace); }
// the workspace of a block's cache has another layout
Status attention_with_cache_of_block(Block::Cache& its, Block::Cache::Workspace& room) { return layer.forward(x, its, out, room); }
// expect: forward takes (x, out, workspace), with num_tokens and a mask or a cache after x
Status constant_cache(const Layer::Cache& constant_cache) { return layer.forward(x, constant_cache, out, cache_workspace); }
// expect: more tokens than context_length
void transformer_of_more_tokens() { decoder.forward(longer, longer, decoder_workspace); }
Status more_tokens_for_model(const Vector<Token, 7>& more, Matrix<float, 7, 9>& all) { return model.forward(more, all, model_workspace); }
// expect: this is no mask
void transformer_with_bools() { decoder.forward(x, bools, out, decoder_workspace); }
// expect: forward takes (x, out, workspace)
void transformer_with_workspace_of_attention() { decoder.forward(x, out, workspace); }
// expect: a forward pass with dropout is part of training: include tinyattn/training.hpp
void dropout_without_training(Philox4x32& philox) { decoder.forward(x, out, decoder_workspace, philox); }
Status dropout_in_a_model_without_training(Philox4x32& philox) { return model.forward(tokens, logits, model_workspace, philox); }
Status counted_dropout_without_training(Philox4x32& philox) { return decoder.forward(x, 3, out, decoder_workspace, philox); }
// expect: with a Cache and its Workspace
Status transformer_with_cache_of_attention() { return decoder.forward(x, cache, out, decoder_cache_workspace); }
Status block_with_cache_of_transformer() { return decoder.blocks[0].forward(x, decoder_cache, out, decoder_cache_workspace); }
// expect: (x, cache, out, workspace) with a Cache and its Workspace
Status braces_behind_a_cache() { return decoder.forward({1, 2}, decoder_cache, out, decoder_cache_workspace); }
// expect: nodiscard
void unread_status() { decoder.forward(x, decoder_cache, out, decoder_cache_workspace); }

// --- Decoders that read a source ---

// expect: memory must have d_model columns
void memory_of_other_width() { reader.forward(x, narrow, out, reader_workspace); }
// expect: memory has more tokens than context_length of cross_attention
void longer_memory() { reader.forward(x, longer, out, reader_workspace); }
// expect: x and memory must have the same batch extents
void batch_of_memory() { reader.forward(x, batch, out, reader_workspace); }
// expect: mask must be [tokens, source tokens]
void memory_mask_of_tokens() { reader.forward(x, shorter, NoMask{}, BlockMask{ones<bool, 6, 6>()}, out, reader_workspace); }
// expect: forward takes (x, memory, out, workspace)
void reader_without_memory() { reader.forward(x, out, reader_workspace); }
Status reader_with_cache_of_other_decoder() { return reader.forward(x, decoder_cache, out, decoder_cache_workspace); }
// expect: begin takes (memory, cache, workspace)
Status begins_another_decoder() { return reader.begin(x, decoder_cache, decoder_cache_workspace); }

// --- Language models ---

// expect: logits must have a row for each token, of vocabulary columns
Status logits_of_other_vocabulary(Matrix<float, 6, 8>& less) { return model.forward(tokens, less, model_workspace); }
Status logits_of_other_length(Matrix<float, 5, 9>& less) { return model.forward(tokens, less, model_workspace); }
// expect: logits must hold floats, and not be const
Status constant_logits(const Matrix<float, 6, 9>& all) { return model.forward(tokens, all, model_workspace); }
// expect: logits must
Status cached_logits_of_all_tokens() { return model.forward(tokens, model_cache, logits, model_cache_workspace); }
// expect: forward takes (tokens, logits, workspace)
Status model_with_workspace_of_transformer() { return model.forward(tokens, logits, decoder_workspace); }
Status model_with_cache_of_transformer() { return model.forward(tokens, decoder_cache, last_logits, decoder_cache_workspace); }
Status model_of_ints() { return model.forward(ints, logits, model_workspace); }
// the rows of the view are not next to each other
Status tokens_with_gaps(const Matrix<Token, 2, 3>& table) {
  return model.forward(columns<2>(table, 0), model_cache, last_logits, model_cache_workspace);
}
// expect: a view of tokens is not made of braces
// 0 is a token here, not a null pointer
Status braced_tokens() { return model.forward({0, 5}, model_cache, last_logits, model_cache_workspace); }
// expect: a view of tokens has no gaps
auto view_of_tokens_with_gaps(const Matrix<Token, 2, 3>& table) { return TokenView(columns<2>(table, 0)); }
// expect: at a null pointer are no tokens
Status tokens_at_a_null_pointer() { return model.forward({nullptr, 5}, model_cache, last_logits, model_cache_workspace); }

// --- Sampling ---

// expect: logits must hold floats, and not be const: sample overwrites them
Token sample_constant_logits(const Vector<float, 9>& last) { return sample(last, Sampling{}, generator); }
// expect: logits must be a vector: those of one token
Token sample_of_several_tokens() { return sample(logits, Sampling{}, generator); }
Token argmax_of_several_tokens() { return argmax(logits); }
// expect: sample takes (logits, sampling, generator)
Token sample_without_generator() { return sample(last_logits, Sampling{}); }
// expect: logits must hold floats
Token argmax_of_ints() { return argmax(ints); }
