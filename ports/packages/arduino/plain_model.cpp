// SPDX-License-Identifier: MIT
//
// Converts the model of examples/writer for the compiled library, in any version of C++: includes
// the header that ports/pytorch/export.py writes, and prints a header of arrays and a
// tinyattn_decoder that points to them. Runs on the machine that makes the package.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "constants.hpp"
#include "tinyattn/tinyattn.hpp"
#include "tinyattn/tinyattn_models.h"
#include "weights.hpp"

namespace {

using namespace tinyattn;

void print_array(const std::string& name, const float* elements, std::size_t count) {
  std::printf("static const float %s[] = {", name.c_str());
  for (std::size_t i = 0; i < count; ++i) std::printf("%s%.9ef,", i % 8 == 0 ? "\n    " : " ", static_cast<double>(elements[i]));
  std::printf("\n};\n");
}

// The name of each printed array, by its address; a missing array (nullptr) has the name NULL.
class Names {
 public:
  // Prints all parameters of a model: the array of "final_norm.weight" is final_norm_weight.
  explicit Names(const auto& model) {
    for_each_parameter(model, [&](std::string name, const auto& tensor) {
      std::replace(name.begin(), name.end(), '.', '_');
      print_array(name, tensor.data(), tensor.size());
      names_[tensor.data()] = name;
    });
  }

  std::string of(const float* elements) const { return elements == nullptr ? "NULL" : names_.at(elements); }
  std::string of(const kernel::Projection<>& projection) const {
    return "{" + of(projection.weight) + ", " + of(projection.bias) + ", NULL, NULL}";
  }
  std::string of(const kernel::Norm& norm) const {
    char epsilon[20];
    std::snprintf(epsilon, sizeof epsilon, "%.9ef", static_cast<double>(norm.epsilon));
    return "{" + of(norm.weight) + ", " + of(norm.bias) + ", " + epsilon + "}";
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
  std::map<const float*, std::string> names_;
};

template <LanguageModelConfig config>
void print(const LanguageModel<config>& model) {
  using Model = LanguageModel<config>;
  constexpr BlockConfig block = config.transformer.block;
  constexpr AttentionConfig attention = block.attention;
  static_assert(attention.rotary == Rotary::halves && config.positions == Positions::none && config.tied && config.transformer.final_norm);
  constexpr std::size_t head_dim = Model::d_model / attention.num_heads;
  std::printf("enum {\n  vocabulary_size = %zu,\n  context_length = %zu,\n  d_model = %zu,\n  d_hidden = %zu,\n  num_layers = %zu,\n",
              config.vocabulary, Model::context_length, Model::d_model, block.feed_forward.d_hidden, config.transformer.num_layers);
  std::printf("  num_heads = %zu,\n  num_kv_heads = %zu,\n  kv_width = %zu,\n  parameter_count = %zu\n};\n", attention.num_heads,
              attention.num_kv_heads, head_dim * attention.num_kv_heads, Model::parameter_count);
  const Names names(model);
  const auto& sinusoids = detail::sinusoids<Model::context_length, head_dim, attention.rotary_base>;
  print_array("cosines", sinusoids.cosines, Model::context_length * head_dim / 2);
  print_array("sines", sinusoids.sines, Model::context_length * head_dim / 2);
  std::printf("static const tinyattn_block blocks[] = {\n");
  for (const auto& each : model.transformer.blocks) std::printf("    %s,\n", names.of(each).c_str());
  std::printf("};\n");
  std::printf("static const tinyattn_decoder model = {\n    vocabulary_size, context_length, d_model, d_hidden, num_layers, num_heads,\n");
  std::printf(
      "    num_kv_heads, static_cast<tinyattn_activation>(%d), %s, token_embedding_weight, NULL, TINYATTN_HALVES, cosines, sines,\n",
      static_cast<int>(block.feed_forward.activation), block.norm_first ? "true" : "false");
  std::printf("    blocks, %s, {NULL, NULL, NULL, NULL}, NULL, NULL};\n", names.of(describe(model.transformer.final_norm)).c_str());
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
