// SPDX-License-Identifier: MIT
//
// Must compile without a warning at every optimization level: calls of layers and models with int8 weights, as an exported module makes
// them, on memory whose size the compiler sees.
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

namespace {

constexpr AttentionConfig attention{
    .d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2, .weights = Weights::int8, .cache = Weights::int8};
constexpr FeedForwardConfig feed_forward{.d_model = 8, .d_hidden = 20, .weights = Weights::int8};
constexpr TransformerConfig blocks{.block = {.attention = attention, .feed_forward = feed_forward}, .num_layers = 1};

struct Model {
  Conv1d<Conv1dConfig{.in = 1, .out = 4, .kernel = 8, .weights = Weights::int8}> whole;
  Conv1d<Conv1dConfig{.in = 4, .out = 8, .kernel = 3, .padding = 1, .weights = Weights::int8}> padded;
  Transformer<blocks> encoder;
  Linear<8, 3, true, Weights::int8> head;
  LanguageModel<LanguageModelConfig{.vocabulary = 5, .transformer = blocks, .weights = Weights::int8}> decoder;
};
constexpr Model model{};

Tensor<float, 3, 8, 1> samples;
Tensor<float, 3, 1, 4> convolved;
Matrix<float, 6, 4> tokens;
Matrix<float, 6, 8> features;
Transformer<blocks>::Workspace workspace;
Vector<float, 3> classes;
decltype(model.decoder)::Cache cache;
decltype(model.decoder)::Cache::Workspace of_token;
Vector<float, 5> logits;

}  // namespace

int main() {
  model.whole.forward(samples, convolved);
  model.padded.forward(tokens, features);
  model.encoder.forward(features, features, workspace);
  model.head.forward(row(features, 0), classes);
  return static_cast<int>(model.decoder.forward(vector<Token>({1}), cache, logits, of_token));
}
