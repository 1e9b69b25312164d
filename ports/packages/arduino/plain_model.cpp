// SPDX-License-Identifier: MIT
//
// The writer's model for the compiled library and any C++: reads the header that ports/pytorch/export.py writes, prints one of arrays and
// of a tinyattn_decoder. Built for the machine that makes the package.
#include <cstdio>
#include <string>

#include "constants.hpp"
#include "tinyattn/tinyattn.hpp"
#include "tinyattn/tinyattn_models.h"
#include "weights.hpp"

namespace {

using namespace tinyattn;

// Prints an array and returns its name; returns NULL if there is no array.
std::string array(const std::string& name, const float* elements, std::size_t count) {
  if (elements == nullptr) return "NULL";
  std::printf("static const float %s[] = {", name.c_str());
  for (std::size_t i = 0; i < count; ++i) std::printf("%s%.9ef,", i % 8 == 0 ? "\n    " : " ", static_cast<double>(elements[i]));
  std::printf("\n};\n");
  return name;
}

template <std::size_t In, std::size_t Out, bool HasBias>
std::string linear(const std::string& name, const Linear<In, Out, HasBias>& linear) {
  const kernel::Projection<> projection = describe(linear);
  const std::string weight = array(name, projection.weight, In * Out);
  return "{" + weight + ", " + array(name + "_bias", projection.bias, Out) + "}";
}
template <class Absent>
std::string linear(const std::string&, const Absent&) {
  return "{NULL, NULL}";
}

std::string norm(const std::string& name, const kernel::Norm& norm) {
  const std::string weight = array(name, norm.weight, norm.dim), bias = array(name + "_bias", norm.bias, norm.dim);
  char epsilon[20];
  std::snprintf(epsilon, sizeof epsilon, "%.9ef", static_cast<double>(norm.epsilon));
  return "{" + weight + ", " + bias + ", " + epsilon + "}";
}

std::string described(const std::string& name, const auto& block) {
  const auto& attention = block.attention;
  const auto& feed_forward = block.feed_forward;
  std::string text = norm(name + "attention_norm", describe(block.attention_norm));
  for (const std::string& part :
       {linear(name + "query", attention.query), linear(name + "key", attention.key), linear(name + "value", attention.value),
        linear(name + "out_proj", attention.out_proj), norm(name + "feed_forward_norm", describe(block.feed_forward_norm)),
        linear(name + "up", feed_forward.up), linear(name + "gate", feed_forward.gate), linear(name + "down", feed_forward.down)})
    text += ", " + part;
  return "    {" + text + "},\n";
}

template <LanguageModelConfig config>
void print(const LanguageModel<config>& model) {
  using Model = LanguageModel<config>;
  constexpr BlockConfig block = config.transformer.block;
  constexpr AttentionConfig attention = block.attention;
  static_assert(attention.rotary == Rotary::halves && config.positions == Positions::none && config.tied && config.transformer.final_norm);
  constexpr std::size_t head_dim = Model::d_model / attention.num_heads;
  const std::size_t layers = config.transformer.num_layers;
  std::printf("enum {\n  vocabulary_size = %zu,\n  context_length = %zu,\n  d_model = %zu,\n  d_hidden = %zu,\n  num_layers = %zu,\n",
              config.vocabulary, Model::context_length, Model::d_model, block.feed_forward.d_hidden, layers);
  std::printf("  num_heads = %zu,\n  num_kv_heads = %zu,\n  kv_width = %zu,\n  parameter_count = %zu\n};\n", attention.num_heads,
              attention.num_kv_heads, head_dim * attention.num_kv_heads, Model::parameter_count);
  array("token_embedding", model.token_embedding.weight.data(), config.vocabulary * Model::d_model);
  const auto& waves = detail::waves<Model::context_length, head_dim, attention.rotary_base>;
  array("cosines", waves.cosines, Model::context_length * head_dim / 2);
  array("sines", waves.sines, Model::context_length * head_dim / 2);
  std::string blocks;
  for (std::size_t i = 0; i < layers; ++i) blocks += described("block_" + std::to_string(i) + "_", model.transformer.blocks[i]);
  const std::string final_norm = norm("final_norm", describe(model.transformer.final_norm));
  std::printf("static const tinyattn_block blocks[] = {\n%s};\n", blocks.c_str());
  std::printf("static const tinyattn_decoder model = {\n    vocabulary_size, context_length, d_model, d_hidden, num_layers, num_heads,\n");
  std::printf("    num_kv_heads, static_cast<tinyattn_activation>(%d), %s, token_embedding, NULL, TINYATTN_HALVES, cosines, sines,\n",
              static_cast<int>(block.feed_forward.activation), block.norm_first ? "true" : "false");
  std::printf("    blocks, %s, {NULL, NULL}};\n", final_norm.c_str());
}

// Prints a string literal of C. Trigraphs cannot occur: the vocabulary has no two question marks in a row.
void print_text(const char* name, const char* text) {
  std::printf("static const char %s[] = \"", name);
  for (; *text != 0; ++text) std::printf(*text == '\n' ? "\\n" : *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  std::printf("\";\n");
}

}  // namespace

int main() {
  std::printf("// Generated from examples/writer by plain_model.cpp.\n#pragma once\n// clang-format off\n\n#include <tinyattn.h>\n\n");
  print_text("vocabulary", writer::vocabulary);
  print(weights::model);
}
