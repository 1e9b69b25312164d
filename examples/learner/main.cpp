// SPDX-License-Identifier: MIT
//
// Learns to reverse eight digits, from random weights. The same source runs on the machine you sit at and as firmware. Lines that begin
// with "board:" depend on the machine; all others are the same everywhere. Fails unless it reads nearly all of the last test right.
#include <array>
#include <cstddef>
#include <cstdint>

#include "../support/checksum.hpp"
#include "../support/print.hpp"
#include "board.h"
#include "model.hpp"

namespace learner { namespace {

using namespace support;

constexpr std::size_t seed = 1, steps_a_row = 20, tested_in_a_row = 10, tested_in_the_end = 100;
constexpr Sequence shown = {3, 1, 4, 1, 5, 9, 2, 6};

using Percentages = std::array<std::array<std::uint8_t, length>, length>;

struct Ticks {
  unsigned long long passes = 0, optimizer = 0;  // of all steps
};

Text grouped(std::uint64_t number) { return integer(number, 1, true); }

// Formats a share, such as "98.6 %".
Text percent(std::size_t part, std::size_t whole) {
  const std::size_t tenths = (1000 * part + whole / 2) / whole;
  Text text = integer(tenths / 10);
  text.append('.');
  text.append(integer(tenths % 10).c_str());
  text.append(" %");
  return text;
}

Text written(const Sequence& digits) {
  Text text;
  for (const tinyattn::Token digit : digits.elements) text.append(static_cast<char>('0' + digit));
  return text;
}

std::size_t test(Memory& memory, std::size_t sequences) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < sequences; ++i) right += count_right(memory, draw(seed, Stream::test, i));
  return right;
}

void print_model() {
  print("tinyattn: learning to reverse eight digits\n\n");
  print("model            ", width, " wide, one head, ", grouped(parameter_count), " parameters in ", grouped(sizeof(Model)), " bytes\n");
  print("training         ", steps, " steps from random weights, each with one sequence\n\n");
  print("step    loss  right  reads ", written(shown), " as\n");
}

void print_row(Memory& memory, std::size_t step, float loss) {
  print_right_aligned(integer(step), 4);
  print_right_aligned(loss == 0.0f ? Text() : decimal(loss), 8);
  print_right_aligned(percent(test(memory, tested_in_a_row), length * tested_in_a_row), 8);
  print("  ", written(predict(memory, shown)), "\n");
}

// learn(), timed.
float timed_step(Memory& memory, std::size_t index, Ticks& ticks) {
  const Sequence digits = draw(seed, Stream::training, index);
  const unsigned long long begin = board_ticks();
  const float loss = add_gradient(memory, digits);
  const unsigned long long between = board_ticks();
  step(memory, best_settings, index);
  ticks.passes += between - begin;
  ticks.optimizer += board_ticks() - between;
  return loss;
}

void train(Memory& memory, Ticks& ticks) {
  float sum = 0.0f;
  print_row(memory, 0, 0.0f);
  for (std::size_t i = 1; i <= steps; ++i) {
    sum += timed_step(memory, i - 1, ticks);
    if (i % steps_a_row != 0) continue;
    print_row(memory, i, sum / static_cast<float>(steps_a_row));
    sum = 0.0f;
  }
}

// Returns the attention weights for the input `shown`, in percent.
Percentages percentages(Memory& memory) {
  const Map& map = look(memory, shown);
  Percentages result{};
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j < length; ++j) result[i][j] = static_cast<std::uint8_t>(rounded_product(map(i, j), 100));
  return result;
}

void print_map(const std::array<std::uint8_t, length>& row) {
  for (const std::size_t percentage : row) print_right_aligned(integer(percentage), 4);
}

void print_maps(const Percentages& before, const Percentages& after) {
  print("\nwhere the head looks when it reads ", written(shown),
        ", in percent: a row for each place, a column for each\nwhose digit goes there\n\n");
  print("  before                              after\n");
  for (std::size_t i = 0; i < length; ++i) {
    print_map(before[i]);
    print("    ");
    print_map(after[i]);
    print("\n");
  }
}

void print_cost(const Ticks& ticks) {
  print("board: ", board_name, "\n");
  print("board: ", grouped(sizeof(Memory)), " bytes of memory\n");
  if (ticks.passes == 0) return;
  print("board: ", grouped(board_instructions(ticks.passes + ticks.optimizer) / steps), " instructions a step, ",
        grouped(board_instructions(ticks.optimizer) / steps), " of them for the optimizer\n");
  print("board: ", grouped(board_stack_used()), " bytes of stack used at the deepest\n");
}

Checksum checksum_of(const Model& model) {
  Checksum checksum;
  tinyattn::for_each_parameter(model, [&](const char*, const auto& weights) { checksum.add(weights.data(), weights.size()); });
  return checksum;
}

// Returns the number of right digits in the last test.
std::size_t run(Memory& memory) {
  Ticks ticks;
  start(memory, best_settings, seed);
  const Percentages before = percentages(memory);
  print_model();
  train(memory, ticks);
  print_maps(before, percentages(memory));
  const std::size_t right = test(memory, tested_in_the_end);
  print("\nright            ", right, " of ", length * tested_in_the_end, " digits of ", tested_in_the_end,
        " sequences that took no part\n");
  print("crc32 of weights ", hexadecimal(checksum_of(memory.model).value()), "\n");
  print_cost(ticks);
  return right;
}

}}  // namespace learner

int main() {
  using namespace learner;
  static Memory memory;
  return 100 * run(memory) >= 99 * length * tested_in_the_end ? 0 : 1;
}
