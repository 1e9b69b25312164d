// SPDX-License-Identifier: MIT
//
// Converts the model of examples/writer for the compiled library, in any version of C++: includes
// the header that ports/pytorch/export.py writes, and prints a header of arrays, a tinyattn_decoder
// that points to them, and the text of each token. Runs on the machine that makes the package.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "tinyattn/tinyattn.hpp"
#include "tinyattn/tinyattn_models.h"
#include "weights.hpp"

namespace {

using namespace tinyattn;

void print_elements(std::size_t count, const auto& print_element) {
  for (std::size_t i = 0; i < count; ++i) {
    std::fputs(i % 8 == 0 ? "\n    " : " ", stdout);
    print_element(i);
  }
  std::printf("\n};\n");
}

void print_array(const std::string& name, const float* elements, std::size_t count) {
  std::printf("static const float %s[] = {", name.c_str());
  print_elements(count, [&](std::size_t i) { std::printf("%.9ef,", static_cast<double>(elements[i])); });
}

void print_array(const std::string& name, const std::uint8_t* elements, std::size_t count) {
  std::printf("alignas(4) static const uint8_t %s[] = {", name.c_str());
  print_elements(count, [&](std::size_t i) { std::printf("%d,", elements[i]); });
}

// The name of each printed array, by its address; a missing array (nullptr) is NULL.
class Names {
 public:
  // Prints all parameters of a model: the array of "final_norm.weight" is final_norm_weight, and an
  // int8 weight is two arrays, with the suffixes _code and _scale.
  explicit Names(const auto& model) {
    for_each_parameter(model, [&](std::string name, const auto& parameter) {
      std::replace(name.begin(), name.end(), '.', '_');
      if constexpr (requires { parameter.code; }) {
        add(name + "_code", parameter.code, std::size(parameter.code));
        add(name + "_scale", parameter.scale, std::size(parameter.scale));
      } else {
        add(name, parameter.data(), parameter.size());
      }
    });
  }

  std::string array(const void* elements) const { return elements == nullptr ? "NULL" : names_.at(elements); }
  std::string of(const kernel::Projection<kernel::Int8Weights>& projection) const {
    return "{NULL, " + array(projection.bias) + ", " + array(projection.weight.codes) + ", " + array(projection.weight.scales) + "}";
  }
  std::string of(const kernel::Norm& norm) const {
    char epsilon[20];
    std::snprintf(epsilon, sizeof epsilon, "%.9ef", static_cast<double>(norm.epsilon));
    return "{" + array(norm.weight) + ", " + array(norm.bias) + ", " + epsilon + "}";
  }
  // The initializer of a tinyattn_block.
  std::string of(const auto& block) const {
    const auto &attention = block.attention, &feed_forward = block.feed_forward;
    std::string text = of(describe(block.attention_norm));
    for (const auto& projection :
         {describe(attention.query), describe(attention.key), describe(attention.value), describe(attention.out_proj)})
      text += ", " + of(projection);
    text += ", " + of(describe(block.feed_forward_norm));
    for (const auto& projection : {describe(feed_forward.up), describe(feed_forward.gate), describe(feed_forward.down)})
      text += ", " + of(projection);
    return "{" + text + "}";
  }

 private:
  void add(const std::string& name, const auto* elements, std::size_t count) {
    print_array(name, elements, count);
    names_[elements] = name;
  }

  std::map<const void*, std::string> names_;
};

template <LanguageModelConfig config>
void print(const LanguageModel<config>& model) {
  using Model = LanguageModel<config>;
  constexpr BlockConfig block = config.transformer.block;
  constexpr AttentionConfig attention = block.attention;
  static_assert(attention.rotary == Rotary::halves && config.positions == Positions::none && !config.tied && config.transformer.final_norm);
  static_assert(attention.cache == Weights::int8 && attention.window != 0);
  constexpr std::size_t head_dim = Model::d_model / attention.num_heads;
  const std::pair<const char*, std::size_t> sizes[] = {{"vocabulary_size", config.vocabulary},
                                                       {"d_model", Model::d_model},
                                                       {"d_hidden", block.feed_forward.d_hidden},
                                                       {"num_layers", config.transformer.num_layers},
                                                       {"num_heads", attention.num_heads},
                                                       {"num_kv_heads", attention.num_kv_heads},
                                                       {"head_dim", head_dim},
                                                       {"window", attention.window},
                                                       {"begin_of_text", *weights::begin_of_text}};
  std::printf("enum {\n");
  for (const auto& [name, size] : sizes) std::printf("  %s = %zu,\n", name, size);
  std::printf("};\n");
  const Names names(model);
  std::printf("static const uint64_t speeds[] = {");
  print_elements(head_dim / 2, [](std::size_t i) {
    std::printf("0x%llxu,", static_cast<unsigned long long>(detail::speeds<head_dim, attention.rotary_base>.at[i]));
  });
  std::printf("static const tinyattn_block blocks[] = {\n");
  for (const auto& each : model.transformer.blocks) std::printf("    %s,\n", names.of(each).c_str());
  std::printf("};\nstatic const tinyattn_decoder model = {\n");
  std::printf("    &tinyattn_decoder_int8_cache, vocabulary_size, %zu, d_model, d_hidden, num_layers, num_heads,\n", Model::context_length);
  std::printf("    num_kv_heads, static_cast<tinyattn_activation>(%d), %s, NULL, NULL, TINYATTN_HALVES, NULL, NULL,\n",
              static_cast<int>(block.feed_forward.activation), block.norm_first ? "true" : "false");
  std::printf("    blocks, %s, %s, %s, %s, speeds, window};\n", names.of(describe(model.transformer.final_norm)).c_str(),
              names.of(describe(model.head)).c_str(), names.array(model.token_embedding.weight.code).c_str(),
              names.array(model.token_embedding.weight.scale).c_str());
}

// Prints the text of each token as a string literal of C. Trigraphs cannot occur: no piece has two question marks in a row.
void print_pieces(const auto& tokenizer) {
  std::printf("static const char* const pieces[] = {");
  print_elements(tokenizer.vocabulary, [&](std::size_t token) {
    std::putchar('"');
    for (const char c : tokenizer.piece(static_cast<Token>(token)))
      std::printf(c == '\n' ? "\\n" : c == '"' || c == '\\' ? "\\%c" : "%c", c);
    std::printf("\",");
  });
}

}  // namespace

int main() {
  std::printf("// Generated from examples/writer by plain_model.cpp.\n#pragma once\n// clang-format off\n\n#include <tinyattn.h>\n\n");
  print(weights::model);
  print_pieces(weights::tokenizer);
}
