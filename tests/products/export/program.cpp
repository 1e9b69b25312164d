// SPDX-License-Identifier: MIT
//
// Runs exported layers and models, the LAYOUTS of exporter.py, on numbers from standard input. Prints each name and its outputs: first with
// the model as a constant, then with the same model in a binary.
#include <cstddef>
#include <cstdio>
#include <span>
#include <type_traits>

#include "layouts.hpp"
#include "tinyattn/convolution.hpp"
#include "tinyattn/language_model.hpp"

namespace {

template <tinyattn::AttentionConfig config, class Layer>
bool run_layer(const Layer& layer) {
  static tinyattn::Matrix<float, config.context_length, config.d_in> x;
  static tinyattn::Matrix<float, config.context_length, config.d_out> out;
  static typename Layer::Workspace workspace;
  for (float& element : x.elements)
    if (std::scanf("%f", &element) != 1) return false;
  layer.forward(x, out, workspace);
  for (const float element : out.elements) std::printf("%.9g\n", static_cast<double>(element));
  return true;
}

template <std::size_t tokens, tinyattn::AttentionConfig config>
bool run(const tinyattn::MultiHeadAttention<config>& layer) {
  return run_layer<config>(layer);
}

template <std::size_t tokens, tinyattn::BlockConfig config>
bool run(const tinyattn::TransformerBlock<config>& block) {
  return run_layer<config.attention>(block);
}

template <std::size_t tokens, tinyattn::TransformerConfig config>
bool run(const tinyattn::Transformer<config>& transformer) {
  return run_layer<config.block.attention>(transformer);
}

template <std::size_t tokens, tinyattn::Conv1dConfig config>
bool run(const tinyattn::Conv1d<config>& layer) {
  static tinyattn::Matrix<float, tokens, config.in> x;
  static tinyattn::Matrix<float, tinyattn::Conv1d<config>::tokens_after(tokens), config.out> out;
  for (float& element : x.elements)
    if (std::scanf("%f", &element) != 1) return false;
  layer.forward(x, out);
  for (const float element : out.elements) std::printf("%.9g\n", static_cast<double>(element));
  return true;
}

// Prints the tokens that the model generates after the first four, always the most likely one, until the cache is full.
template <class Model, std::size_t Length, std::size_t Vocabulary>
bool write_on(const Model& model, tinyattn::Vector<tinyattn::Token, Length> tokens, tinyattn::Vector<float, Vocabulary>& logits) {
  static typename Model::Cache cache;
  static typename Model::Cache::Workspace workspace;
  cache.clear();
  std::span<const tinyattn::Token> next(tokens.data(), 4);
  for (std::size_t i = 4; i < Length; ++i) {
    if (model.forward(next, cache, logits, workspace) != tinyattn::Status::ok) return false;
    tokens(i) = tinyattn::argmax(logits);
    next = std::span<const tinyattn::Token>(tokens.data() + i, 1);
    std::printf("%u\n", static_cast<unsigned>(tokens(i)));
  }
  return true;
}

// Reads context_length tokens; prints the logits after each of them, then the tokens that the model generates.
template <std::size_t tokens, tinyattn::LanguageModelConfig config>
bool run(const tinyattn::LanguageModel<config>& model) {
  using Model = tinyattn::LanguageModel<config>;
  static tinyattn::Vector<tinyattn::Token, Model::context_length> text;
  static tinyattn::Matrix<float, Model::context_length, config.vocabulary> logits;
  static tinyattn::Vector<float, config.vocabulary> last;
  static typename Model::Workspace workspace;
  for (tinyattn::Token& token : text.elements)
    if (std::scanf("%hu", &token) != 1) return false;
  if (model.forward(text, logits, workspace) != tinyattn::Status::ok) return false;
  for (const float element : logits.elements) std::printf("%.9g\n", static_cast<double>(element));
  return write_on(model, text, last);
}

template <std::size_t tokens, std::size_t parameters, class Model>
bool run_both(const char* name, const Model& constant, const Model& placed) {
  static_assert(Model::parameter_count == parameters);
  std::printf("= %s\n", name);
  return run<tokens>(constant) && run<tokens>(placed);
}

}  // namespace

#define RUN(name, part, tokens, parameters) \
  if (!run_both<tokens, parameters>(#name, name::part, in_binary_##name::weights(&placed_##name).part)) return 1;
int main() { LAYOUTS(RUN) }
