// SPDX-License-Identifier: MIT
//
// Writes a paragraph as Jane Austen might have, token by token: writer [PROMPT] [--seed N] [--for-ever]. The same source runs on the
// machine you sit at and as firmware. Lines that begin with "board:" depend on the machine; all others are the same everywhere.
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
  void put(std::string_view characters) {
    for (const char character : characters) put(character);
  }

  bool is_at_margin() const { return column_ == 0; }

 private:
  void put(char character) {
    const bool ends = character == '\n' || (character == ' ' && column_ >= line_width);
    const char text[] = {ends ? '\n' : character, 0};
    print(text);
    column_ = ends ? 0 : column_ + 1;
  }

  std::size_t column_ = 0;
};

// The time spent in the model, in sampling and in printing. Stopped at first.
class Stopwatch {
 public:
  void start() { begin_ = board_ticks(); }
  void stop() { ticks_ += board_ticks() - begin_; }
  unsigned long long ticks() const { return ticks_; }

 private:
  unsigned long long begin_ = 0, ticks_ = 0;
};

struct Cost {
  std::size_t tokens = 0, characters = 0;
  Stopwatch time;
  Checksum checksum;  // of the probabilities from which each token was drawn, and of the last logits
};

Cost write(const Arguments& arguments, Memory& memory) {
  auto& [cache, workspace, logits] = memory;
  Token prompt[longest_prompt + 2] = {beginning};
  std::size_t count = 1;
  static_cast<void>(tokenizer.encode(arguments.prompt, prompt, count));  // read_arguments has checked that it fits
  tinyattn::Philox4x32 generator{arguments.seed};
  Page page;
  Paragraph paragraph{.is_for_ever = arguments.is_for_ever};
  Cost cost;
  const auto put = [&](std::string_view text) {
    cost.time.stop();
    cost.checksum.add(memory.logits.data(), vocabulary_size);
    page.put(paragraph.add(text));
    const bool is_stopped = arguments.is_for_ever && board_has_input() != 0;
    cost.time.start();
    return paragraph.goes_on() && !is_stopped;
  };
  page.put(arguments.prompt);
  cost.time.start();
  cost.tokens = generate(weights::model, tokenizer, {prompt, count}, generation, cache, logits, workspace, generator, put).num_tokens;
  cost.time.stop();
  cost.checksum.add(logits.data(), vocabulary_size);
  cost.characters = paragraph.characters;
  print(paragraph.is_complete ? "" : "...", page.is_at_margin() ? "\n" : "\n\n");
  return cost;
}

constexpr const char* name_of(tinyattn::Weights weights) { return weights == tinyattn::Weights::int8 ? "int8" : "f32"; }

void print_model(const Arguments& arguments) {
  print("tinyattn: a model that has read Jane Austen's novels\n\n");
  print("model            ", Model::d_model, " wide, ", config.transformer.num_layers, " layers, ", grouped(Model::parameter_count),
        " parameters in ", grouped(Model::parameter_bytes), " bytes\n");
  print("stored           weights in ", name_of(config.weights), ", cache in ", name_of(config.transformer.block.attention.cache), "\n");
  print("pieces           ", vocabulary_size, "; a layer sees the last ", window, "\n");
  print("seed             ", grouped(arguments.seed), "\n\n");
}

void print_instructions(const Cost& cost, std::size_t count, const char* of_what) {
  print("board: ", grouped(board_instructions(cost.time.ticks()) / count), " instructions a ", of_what, "\n");
}

void print_cost(const Cost& cost) {
  print("characters       ", cost.characters, ", in ", cost.tokens, " tokens\n");
  print("crc32 of draws   ", hexadecimal(cost.checksum.value()), "\n");
  print("board: ", board_name, "\n");
  print("board: ", grouped(sizeof(Model::Cache)), " bytes of cache, ", grouped(sizeof(Model::Cache::Workspace)), " of workspace\n");
  if (cost.time.ticks() == 0 || cost.characters == 0) return;
  print_instructions(cost, cost.tokens, "token");
  print_instructions(cost, cost.characters, "character");
  print("board: ", grouped(board_stack_used()), " bytes of stack used at the deepest\n");
}

}}  // namespace writer

int main(int argc, char** argv) {
  using namespace writer;
  board_arguments(&argc, &argv);
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) return 2;
  static Memory memory{};
  print_model(arguments);
  print_cost(write(arguments, memory));
  return 0;
}
