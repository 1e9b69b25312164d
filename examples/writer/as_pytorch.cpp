// SPDX-License-Identifier: MIT
//
// Compares with PyTorch's results in double: the tokens of a prompt, the logits after each, the 100 most likely tokens that follow, during
// which the window moves on, and the logits before the last of them. In int8, rounding changes logits, and of two almost equally likely
// tokens the other one may win: the model reads PyTorch's tokens, whose logits may be a little below the largest.
#include <algorithm>
#include <iterator>

#include "../support/print.hpp"
#include "board.h"
#include "constants.hpp"
#include "model.hpp"

#ifdef WRITER_F32  // the program as_pytorch_f32
#include "weights_f32.hpp"
#endif

namespace writer { namespace {

using namespace support;

#ifdef WRITER_F32
constexpr auto& model = weights_f32::model;
constexpr float tolerance = 2e-5f, most_below = 0.0f;
#else
constexpr auto& model = weights::model;
constexpr float tolerance = 0.6f, most_below = 0.06f;
#endif
using TestedMemory = MemoryOf<std::remove_cvref_t<decltype(model)>>;
constexpr std::size_t num_tokens = std::size(expected::tokens), num_greedy = std::size(expected::greedy);

// Returns the maximum; NaN counts as larger than any number.
float larger(float a, float b) { return b <= a || a != a ? a : b; }

float distance(float a, float b) { return a < b ? b - a : a - b; }

Text in_billionths(float x) {
  Text text = integer(rounded_product(x, 1000000000));
  text.append("e-9");
  return text;
}

bool has_expected_tokens() {
  Token tokens[sizeof expected::prompt + 1] = {beginning};
  std::size_t count = 1;
  if (tokenizer.encode(expected::prompt, tokens, count) != tinyattn::Status::ok || count != num_tokens) return false;
  return std::equal(tokens, tokens + count, expected::tokens);
}

struct Comparison {
  std::size_t most_likely = 0;  // PyTorch's tokens that are also ours
  float below = 1e9f;           // by how much the logit of PyTorch's token may be below the largest
  float largest_difference = 0.0f;

  void add(const Logits& logits, std::size_t row) {
    for (std::size_t token = 0; token < vocabulary_size; ++token)
      largest_difference = larger(largest_difference, distance(logits(token), expected::logits(row, token)));
  }
};

bool reads(Token token, TestedMemory& memory) {
  return model.forward({&token, 1}, memory.cache, memory.logits, memory.workspace) == tinyattn::Status::ok;
}

// Reads PyTorch's tokens one by one.
Comparison compare(TestedMemory& memory) {
  const Logits& logits = memory.logits;
  Comparison comparison;
  for (std::size_t i = 0; i < num_tokens; ++i) {
    if (!reads(expected::tokens[i], memory)) return {};
    comparison.add(logits, i);
  }
  comparison.below = 0.0f;
  for (std::size_t i = 0; i < num_greedy; ++i) {
    const Token likeliest = argmax(logits);
    comparison.most_likely += likeliest == expected::greedy[i];
    comparison.below = larger(comparison.below, logits(likeliest) - logits(expected::greedy[i]));
    if (i + 1 == num_greedy) comparison.add(logits, num_tokens);
    if (!reads(expected::greedy[i], memory)) return {};
  }
  return comparison;
}

}}  // namespace writer

int main() {
  using namespace writer;
  static TestedMemory memory{};
  const Comparison comparison = compare(memory);
  print(comparison.most_likely, " of ", num_greedy, " tokens are PyTorch's, the others less likely by at most ",
        in_billionths(comparison.below), "; no logit differs by more than ", in_billionths(comparison.largest_difference), "\n");
  return has_expected_tokens() && comparison.below <= most_below && comparison.largest_difference <= tolerance ? 0 : 1;
}
