// SPDX-License-Identifier: MIT
//
// Prints the cost of int8: the loss of a text, in nats per character, of three models that read it token by token as the firmware does.
// train.py prints the same. Fails if the firmware's model has more than 1.06.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model.hpp"
#include "weights_f32.hpp"
#include "weights_int8.hpp"

namespace writer { namespace {

constexpr double most = 1.06;

// Returns the tokens of a text. No piece continues after a newline, so each line is tokenized by itself.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens(text.size() + 1);
  std::size_t count = 0;
  for (std::string_view line; !text.empty(); text.remove_prefix(line.size())) {
    const std::size_t end = text.find('\n');
    line = text.substr(0, end < text.size() ? end + 1 : end);
    if (tokenizer.encode(line, tokens, count) != tinyattn::Status::ok) return {};
  }
  tokens.resize(count);
  return tokens;
}

// Returns minus the logarithm of the probability of a token.
double loss_of(Token token, const Logits& logits) {
  const double largest = static_cast<double>(logits(argmax(logits)));
  double sum = 0.0;
  for (const float logit : logits.elements) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum) - static_cast<double>(logits(token));
}

// Returns the loss of all tokens after the first.
template <tinyattn::LanguageModelConfig config>
double total_loss(const tinyattn::LanguageModel<config>& model, std::span<const Token> tokens) {
  static MemoryOf<tinyattn::LanguageModel<config>> memory;
  auto& [cache, workspace, logits] = memory;
  double total = 0.0;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (model.forward(tokens.subspan(i - 1, 1), cache, logits, workspace) != tinyattn::Status::ok) return HUGE_VAL;
    total += loss_of(tokens[i], logits);
  }
  return total;
}

}}  // namespace writer

int main(int argc, char** argv) {
  using namespace writer;
  std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::vector<Token> tokens = tokens_of(text);
  if (tokens.size() < 2) {
    std::puts("usage: loss FILE, which train.py --held-out writes");
    return 2;
  }
  std::printf("%zu characters, %zu tokens\n", text.size(), tokens.size());
  const auto print_loss = [&](const char* what, const auto& model) {
    const double loss = total_loss(model, tokens) / static_cast<double>(text.size());
    std::printf("weights in %-21s %.6f nats a character\n", what, loss);
    return loss;
  };
  print_loss("f32, cache in f32", weights_f32::model);
  print_loss("int8, cache in f32", weights_int8::model);
  return print_loss("int8, cache in int8", weights::model) <= most ? 0 : 1;
}
