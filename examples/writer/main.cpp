// SPDX-License-Identifier: MIT
//
// Writes a paragraph as Jane Austen might have, a character at a time: writer [PROMPT] [--seed N]. The same source runs on the machine
// you sit at and as firmware. Lines that begin with "board:" depend on the machine; all others are the same everywhere.
#include "../support/checksum.hpp"
#include "../support/print.hpp"
#include "arguments.hpp"
#include "board.h"
#include "paragraph.hpp"

namespace writer { namespace {

using namespace support;

constexpr std::size_t line_width = 80;

// Prints each character at once, and breaks a line at the first space from column line_width on.
class Page {
 public:
  void put(Token token) {
    const char character = vocabulary[token];
    const bool ends = character == '\n' || (character == ' ' && column_ >= line_width);
    const char text[] = {ends ? '\n' : character, 0};
    print(text);
    column_ = ends ? 0 : column_ + 1;
  }

  bool is_at_margin() const { return column_ == 0; }

 private:
  std::size_t column_ = 0;
};

struct Cost {
  std::size_t characters = 0;
  unsigned long long ticks = 0;  // of the model, and of drawing a token
  Checksum checksum;             // of all logits

  auto timed(const auto& work) {
    const unsigned long long begin = board_ticks();
    const auto result = work();
    ticks += board_ticks() - begin;
    return result;
  }
};

// Returns the next token, drawn from what the model expects after `text`.
Token next(std::span<const Token> text, std::size_t unread, Memory& memory, tinyattn::Philox4x32& generator, Cost& cost) {
  if (cost.timed([&] { return read(text, unread, memory); }) != tinyattn::Status::ok) return 0;
  cost.checksum.add(memory.logits.data(), vocabulary_size);
  ++cost.characters;
  return cost.timed([&] { return sample(memory.logits, sampling, generator); });
}

Cost write(const Arguments& arguments, Memory& memory) {
  static Passage<longest_prompt + longest_paragraph> passage;
  tinyattn::Philox4x32 generator{arguments.seed};
  Page page;
  Cost cost;
  passage.add(arguments.prompt);
  for (const Token token : passage.tokens()) page.put(token);
  bool ends = false;
  for (std::size_t unread = passage.tokens().size(); !ends && cost.characters < longest_paragraph; unread = 1) {
    const Token token = next(passage.tokens(), unread, memory, generator, cost);
    passage.add(token);
    page.put(token);
    ends = ends_paragraph(vocabulary[token], cost.characters);
  }
  print(ends ? "" : "...", page.is_at_margin() ? "\n" : "\n\n");
  return cost;
}

Text grouped(std::uint64_t number) { return integer(number, 1, true); }

// Prints a note if the prompt is longer than the context: the model does not read its beginning.
void print_prompt(std::size_t characters) {
  if (characters <= Model::context_length) return;
  print("prompt           ", characters, " characters, more than the context: the model sees the last ", read_again, "\n");
}

constexpr const char* name_of(tinyattn::Weights weights) { return weights == tinyattn::Weights::int8 ? "int8" : "f32"; }

void print_model(const Arguments& arguments) {
  print("tinyattn: a model that has read Jane Austen's novels\n\n");
  print("model            ", width, " wide, ", num_layers, " layers, ", grouped(Model::parameter_count), " parameters in ",
        grouped(Model::parameter_bytes), " bytes\n");
  print("stored           weights in ", name_of(stored), ", cache in ", name_of(cached), "\n");
  print("context          ", Model::context_length, " characters; when it is full, the last ", read_again, " are read again\n");
  print_prompt(arguments.prompt.size());
  print("seed             ", grouped(arguments.seed), "\n\n");
}

void print_cost(const Cost& cost) {
  print("characters       ", cost.characters, "\n");
  print("crc32 of logits  ", hexadecimal(cost.checksum.value()), "\n");
  print("board: ", board_name, "\n");
  print("board: ", grouped(sizeof(Model::Cache)), " bytes of cache, ", grouped(sizeof(Model::Cache::Workspace)), " of workspace\n");
  if (cost.ticks == 0 || cost.characters == 0) return;
  print("board: ", grouped(board_instructions(cost.ticks) / cost.characters), " instructions a character\n");
  print("board: ", grouped(board_stack_used()), " bytes of stack used at the deepest\n");
}

}}  // namespace writer

int main(int argc, char** argv) {
  using namespace writer;
  board_arguments(&argc, &argv);
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) return 2;
  static Memory memory;
  print_model(arguments);
  print_cost(write(arguments, memory));
  return 0;
}
