// SPDX-License-Identifier: MIT
//
// The book's GPTModel writes: chapter 4.7, the likeliest character after each text.
#include "gpt.hpp"

#include "../support/checksum.hpp"
#include "../support/print.hpp"
#include "board.h"
#include "tinyattn/sampling.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <cstdint>

__asm__(
    ".section .rodata\n"
    ".balign 4\n"
    ".global weights_in_flash\n"
    "weights_in_flash:\n"
    ".incbin \"" WEIGHTS
    "\"\n"
    ".previous\n");
extern "C" const unsigned char weights_in_flash[];

namespace {

using support::grouped;

constexpr char characters[] = "\n .abcdefghijklmnopqrstuvwxyz";  // by their tokens, as in train.py
constexpr char prompt[] = "the red hen ";
constexpr std::size_t length = 60, context = gpt::Model::Input::size();

gpt::Model::Workspace workspace;
gpt::Model::Output logits;

tinyattn::Token token_of(char character) {
  std::size_t token = 0;
  while (characters[token] != character) ++token;
  return static_cast<tinyattn::Token>(token);
}

// The last tokens of a text, as many as the model's context.
struct Text {
  gpt::Model::Input tokens{};
  std::size_t count = 0;

  void append(tinyattn::Token token) {
    if (count == context)
      for (std::size_t i = 1; i < context; ++i) tokens(i - 1) = tokens(i);
    else
      ++count;
    tokens(count - 1) = token;
  }
};

void print(const char* text) { board_print(text); }

struct Result {
  support::Checksum logits;
  unsigned long long ticks = 0;  // of all calls of the model
};

// Writes the likeliest character after each text: what follows a text in the context is masked,
// whatever it is.
Result write(const gpt::Model& model) {
  Result result;
  Text text;
  print(prompt);
  for (const char* character = prompt; *character != 0; ++character)
    text.append(token_of(*character));
  for (std::size_t i = 0; i < length; ++i) {
    const unsigned long long begin = board_ticks();
    model.forward(text.tokens, logits, workspace);
    result.ticks += board_ticks() - begin;
    result.logits.add(logits.data(), logits.size());
    const tinyattn::Token token = tinyattn::argmax(tinyattn::row(logits, text.count - 1));
    const char printed[] = {characters[token], 0};
    print(printed);
    text.append(token);
  }
  return result;
}

}  // namespace

int main() {
  const gpt::Model& model = gpt::weights(weights_in_flash);
  const bool is_right = gpt::example_error(model, workspace) < 1e-4f;  // the largest logit is 11
  print(is_right ? "as PyTorch computed the example: yes\n\n"
                 : "as PyTorch computed the example: NO\n\n");

  const Result result = write(model);
  const unsigned long long instructions = board_instructions(result.ticks);
  print("\n\ncrc32 of logits  ");
  print(support::hexadecimal(result.logits.value()).c_str());
  print("\nboard: ");
  print(board_name);
  print("\n");
  if (instructions != 0) {
    print("board: ");
    print(grouped(instructions / length).c_str());
    print(" instructions a character\nboard: ");
    print(grouped(board_stack_used()).c_str());
    print(" bytes of stack used at the deepest\n");
  }
  return is_right ? 0 : 1;
}
