// SPDX-License-Identifier: MIT
//
// What most programs use: modules for four features, up to six tokens, two heads; inputs and outputs that fit, and some that do not.
#include "tinyattn/compiled.hpp"
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

constexpr AttentionConfig heads{.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2};
constexpr FeedForwardConfig hidden{.d_model = 4, .d_hidden = 8};
constexpr TransformerConfig body{.block = {.attention = heads, .feed_forward = hidden}, .num_layers = 2};

using Layer = MultiHeadAttention<heads>;
using Int8Linear = Linear<6, 6, true, Weights::int8>;
using Int8Layer = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2, .weights = Weights::int8}>;
using Decoder = Transformer<body>;
using Reader = TransformerDecoder<TransformerDecoderConfig{
    .block = {.attention = heads, .cross_attention = {.d_in = 4, .d_out = 4, .context_length = 6, .causal = false}, .feed_forward = hidden},
    .num_layers = 2}>;
using Model = LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = body}>;

extern const Layer layer;
extern const FeedForward<hidden> feed_forward;
extern const LayerNorm<4> norm;
extern const Decoder decoder;
extern const Reader reader;
extern Reader::Workspace reader_workspace;
extern const Model model;
extern Layer::Workspace workspace;
extern Layer::Cache cache;
extern Layer::Cache::Workspace cache_workspace;
extern FeedForward<hidden>::Workspace feed_forward_workspace;
extern Decoder::Workspace decoder_workspace;
extern Decoder::Cache decoder_cache;
extern Decoder::Cache::Workspace decoder_cache_workspace;
extern Model::Workspace model_workspace;
extern Model::Cache model_cache;
extern Model::Cache::Workspace model_cache_workspace;
extern Mt19937 generator;

extern Matrix<float, 6, 4> x, out;
extern const Matrix<float, 6, 4> constant;
extern Matrix<float, 6, 3> narrow;
extern Matrix<float, 5, 4> shorter;
extern Matrix<float, 7, 4> longer;
extern Matrix<float, 6, 6> square;
extern Matrix<double, 6, 4> doubles;
extern Matrix<bool, 6, 6> bools;
extern Matrix<bool, 5, 5> bools_of_five;
extern Tensor<float, 2, 6, 4> batch;
extern float array[6][4];
extern Vector<Token, 6> tokens;
extern Vector<int, 6> ints;
extern Matrix<float, 6, 9> logits;
extern Vector<float, 9> last_logits;
