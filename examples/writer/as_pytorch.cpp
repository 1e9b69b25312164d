// SPDX-License-Identifier: MIT
//
// Tests whether the model computes what PyTorch computes: the logits after each character of a prompt, 200 characters of the most likely
// text, in which the context is full several times over, and the logits of the last of them. In int8 the characters are the same, and the
// logits differ by what int8 costs.
#include "../support/print.hpp"
#include "board.h"
#include "model.hpp"

namespace writer { namespace {

using namespace support;

constexpr float tolerance = stored == tinyattn::Weights::int8 ? 0.6f : 2e-5f;
constexpr std::string_view prompt = expected::prompt, greedy = expected::greedy;

// Returns the maximum, where NaN counts as larger than any number.
float larger(float a, float b) { return b <= a || a != a ? a : b; }

float distance(float a, float b) { return a < b ? b - a : a - b; }

struct Comparison {
  std::size_t characters = 0;  // that equal PyTorch's
  float largest_difference = 0.0f;

  void add(const Logits& logits, std::size_t row) {
    for (std::size_t token = 0; token < vocabulary_size; ++token)
      largest_difference = larger(largest_difference, distance(logits(token), expected::logits(row, token)));
  }
};

// Reads the prompt a character at a time, then goes on with the most likely ones. After a failure `characters` is too small.
Comparison compare(Memory& memory) {
  static Passage<prompt.size() + greedy.size()> passage;
  Comparison comparison;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    passage.add(prompt.substr(i, 1));
    if (read(passage.tokens(), 1, memory) != tinyattn::Status::ok) return {};
    comparison.add(memory.logits, i);
  }
  for (std::size_t& i = comparison.characters; i < greedy.size(); ++i) {
    const Token token = argmax(memory.logits);
    if (vocabulary[token] != greedy[i]) break;
    if (i + 1 == greedy.size()) comparison.add(memory.logits, prompt.size());
    passage.add(token);
    if (read(passage.tokens(), 1, memory) != tinyattn::Status::ok) break;
  }
  return comparison;
}

}}  // namespace writer

int main() {
  using namespace writer;
  static Memory memory;
  const Comparison comparison = compare(memory);
  print(comparison.characters, " of ", greedy.size(), " characters are PyTorch's; no logit differs by more than ",
        integer(rounded_product(comparison.largest_difference, 1000000000)), "e-9\n");
  return comparison.characters == greedy.size() && comparison.largest_difference <= tolerance ? 0 : 1;
}
