// SPDX-License-Identifier: MIT
//
// Prints what int8 costs: the loss, in nats per character, of a text by three models, with the context that the firmware has, of 24 to 48
// characters. It is the loss_as_used of train.py. Fails if int8 costs more than .1 %, or .25 % with an int8 cache.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>

#include "model.hpp"
#include "weights_f32.hpp"
#include "weights_int8.hpp"

namespace writer { namespace {

using Text = std::vector<Token>;

// Returns an empty text if the file cannot be read, or has a character that is not in the vocabulary.
Text read_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  Text text;
  for (char character; file.get(character); text.push_back(static_cast<Token>(token_of(character))))
    if (token_of(character) == vocabulary_size) return {};
  return text;
}

// Returns minus the logarithm of the probability of a token.
double loss_of(Token token, const Logits& logits) {
  const double largest = logits(argmax(logits));
  double sum = 0.0;
  for (const float logit : logits.elements) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum) - static_cast<double>(logits(token));
}

// Returns the loss of the characters that follow 24 to 48 others. Each of the text from the 25th on is one of them, but for the last few.
template <tinyattn::LanguageModelConfig config>
double loss(const tinyattn::LanguageModel<config>& model, std::span<const Token> text) {
  using Cache = typename tinyattn::LanguageModel<config>::Cache;
  static Cache cache;
  static typename Cache::Workspace workspace;
  Logits logits{};
  double total = 0.0;
  std::size_t count = 0;
  for (; text.size() > Model::context_length; text = text.subspan(Model::context_length - read_again + 1)) {
    cache.clear();
    std::span<const Token> unread = text.first(read_again);
    for (std::size_t length = read_again; length <= Model::context_length; ++length, ++count) {
      if (model.forward(unread, cache, logits, workspace) != tinyattn::Status::ok) return NAN;
      total += loss_of(text[length], logits);
      unread = text.subspan(length, 1);
    }
  }
  return total / static_cast<double>(count);
}

// Prints a loss beside that of the float model. Returns whether it is at most `most` percent more.
bool print_loss(const char* what, double loss, double loss_of_floats, double most) {
  const double more = 100.0 * (loss / loss_of_floats - 1.0);
  std::printf("%-32s %.6f  %+.3f %%\n", what, loss, more);
  return more <= most;
}

}}  // namespace writer

int main(int argc, char** argv) {
  using namespace writer;
  const Text text = argc == 2 ? read_text(argv[1]) : Text{};
  if (text.size() <= Model::context_length) {
    std::puts("usage: loss FILE, which train.py --held-out writes");
    return 2;
  }
  const double floats = loss(weights_f32::model, text);
  std::printf("%-32s %.6f nats a character\n", "weights in f32, cache in f32", floats);
  const bool holds = print_loss("weights in int8, cache in f32", loss(weights_int8::model, text), floats, 0.1);
  return print_loss("weights in int8, cache in int8", loss(weights::model, text), floats, 0.15) && holds ? 0 : 1;
}
