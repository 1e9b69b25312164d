// SPDX-License-Identifier: MIT
//
// Prints a prompt and the most likely text after it: continued PROMPT NUMBER_OF_TOKENS
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "model.hpp"
#include "tinyattn/generate.hpp"

extern "C" const model::Weights placed;  // where the linker has put the binary

using namespace tinyattn;

int main(int count, char** words) {
  if (count != 3) return 2;
  const auto& net = model::weights(&placed).model;
  using Model = std::remove_cvref_t<decltype(net)>;
  static Model::Cache cache;
  static Model::Cache::Workspace workspace;
  static Vector<float, Model::vocabulary> logits;
  static Token tokens[256] = {*model::begin_of_text};
  std::size_t num_tokens = 1;
  if (model::tokenizer.encode(words[1], tokens, num_tokens) != Status::ok) return 1;
  const auto put = [](std::string_view text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size(); };
  put(words[1]);
  Philox4x32 generator(1);
  const Generation options = {
      .sampling = {.temperature = 0}, .max_tokens = std::strtoul(words[2], nullptr, 10) - num_tokens + 1, .stop = model::begin_of_text};
  generate(net, model::tokenizer, TokenView(tokens, num_tokens), options, cache, logits, workspace, generator, put);
}
