// SPDX-License-Identifier: MIT
//
// The board learns the new hand with adapters (LoRA) in all layers, whose own weights stay in flash. Lines that begin with "board:" depend
// on the machine; all others are the same everywhere. Fails unless at least 98 % of the first test set are still read right.
#include <cstddef>

#include "../support/print.hpp"
#include "board.h"
#include "tuning.hpp"

namespace digits { namespace {

using namespace support;

Tuning tuning;

void print_task() {
  print("tinyattn: a model of handwritten digits learns a new hand by adapters of rank ", lora.rank, "\n\n");
  print("model            ", grouped(parameter_count), " parameters, constants; ", grouped(adapter_count), " of adapters are trained\n");
  print("a step           a sample of the new hand, or in turn an image that the model was trained with; AdamW\n\n");
}

void print_share(const char* what, const Results& results) {
  print(what, percent(results.right, results.images), ", ", results.right, " of ", results.images, " images read right\n");
}

void print_results(const Results& tests, const Results& first_tests) {
  print_share("new hand         ", tests);
  print_share("first test       ", first_tests);
  print("crc32 of adapters ", hexadecimal(checksum_of(tuning.adapters)), "\n\n");
}

void train_and_print() {
  print("epoch      loss\n");
  for (std::size_t epoch = 1; epoch <= num_epochs; ++epoch) {
    print_right_aligned(integer(epoch), 5);
    print_right_aligned(decimal(learn_all_samples(tuning)), 10);
    print("\n");
  }
  print("\n");
}

void print_cost() {
  print("board: ", board_name, "\n");
  print("board: ", grouped(sizeof(Tuning)), " bytes of adapters, gradient, moments and scratch\n");
  if (tuning.ticks == 0) return;
  print("board: ", grouped(board_instructions(tuning.ticks) / tuning.steps), " instructions a step\n");
  print("board: ", grouped(board_stack_used()), " bytes of stack used at the deepest\n");
}

}}  // namespace digits

int main() {
  using namespace digits;
  start(tuning);
  print_task();
  const Results before = read_tests(tuning);
  print_results(before, read_first_tests(tuning));
  train_and_print();
  const Results after = read_tests(tuning), first_after = read_first_tests(tuning);
  print_results(after, first_after);
  print_cost();
  return after.right > before.right && 100 * first_after.right >= 98 * first_after.images ? 0 : 1;
}
