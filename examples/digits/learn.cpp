// SPDX-License-Identifier: MIT
//
// The board learns the handwriting of a new user from 100 images and is tested on 260 others. Lines that begin with "board:" depend on the
// machine; all others are the same everywhere. Fails if it forgets the original training.
#include <cstddef>
#include <cstdint>

#include "../support/print.hpp"
#include "board.h"
#include "lesson.hpp"
#include "picture.hpp"

namespace digits { namespace {

using namespace support;

Lesson lesson;

void print_task() {
  print("tinyattn: a model of handwritten digits learns a new hand\n\n");
  print("model            ", grouped(parameter_count), " parameters, of which the last layer's ", grouped(Classifier::parameter_count),
        " are trained; the others are constants\n");
  print("new hand         ", hand::pixels.extent(0), " images that lean to the left, of people who took no part in training: ", num_samples,
        " to learn from, ", num_tests, " to test\n");
  print("first test       ", num_first_tests, " images of the hands that the model was trained with\n");
}

// Prints a line of the table; before the first epoch there is no loss.
void print_epoch(std::size_t epoch, const Text& loss, const Results& results) {
  print_right_aligned(integer(epoch), 5);
  print_right_aligned(loss, 10);
  print_right_aligned(percent(results.right, results.images), 10);
  print("\n");
}

// Trains on all samples, epoch by epoch, and prints how well the tests are read.
void train_and_print(const Results& before) {
  start(lesson);
  print("epoch      loss  new hand\n");
  print_epoch(0, {}, before);
  for (std::size_t epoch = 1; epoch <= num_epochs; ++epoch) {
    const float loss = learn_all_samples(lesson, false);
    print_epoch(epoch, decimal(loss), read_tests(lesson));
  }
  print("\n");
}

void train_and_recall() {
  start(lesson);
  for (std::size_t epoch = 1; epoch <= num_epochs; ++epoch) learn_all_samples(lesson, true);
}

void print_share(const char* what, const Results& results) {
  print(what, percent(results.right, results.images), ", ", results.right, " of ", results.images, " images read right\n");
}

void print_results(const Results& tests, const Results& first_tests) {
  print_share("new hand         ", tests);
  print_share("first test       ", first_tests);
  print("crc32 of weights ", hexadecimal(checksum_of(lesson.head)), "\n\n");
}

// Prints the confusion matrices, side by side.
void print_tables(const Results& before, const Results& after) {
  Text dot;
  dot.append('.');
  print("before");
  for (std::size_t digit = 0; digit < num_classes; ++digit) print_right_aligned(integer(digit), 4);
  print("    after");
  for (std::size_t digit = 0; digit < num_classes; ++digit) print_right_aligned(integer(digit), 4);
  print("\n");
  for (std::size_t written = 0; written < num_classes; ++written) {
    for (const Results* results : {&before, &after}) {
      print_right_aligned(integer(written), results == &before ? 6 : 9);
      for (const std::uint16_t times : results->times[written]) print_right_aligned(times == 0 ? dot : integer(times), 4);
    }
    print("\n");
  }
}

void print_cost() {
  print("board: ", board_name, "\n");
  print("board: ", grouped(sizeof(Lesson)), " bytes of weights, gradient and scratch\n");
  if (lesson.ticks == 0) return;
  print("board: ", grouped(board_instructions(lesson.ticks) / lesson.steps), " instructions a step\n");
  print("board: ", grouped(board_instructions(lesson.frozen_ticks) / lesson.steps), " of them in the layers that are not trained\n");
  print("board: ", grouped(board_stack_used()), " bytes of stack used at the deepest\n");
}

}}  // namespace digits

int main() {
  using namespace digits;
  start(lesson);
  const Results before = read_tests(lesson);
  print_task();
  print("\nThe first that it reads wrong:\n\n");
  print_readings({hand::pixels, hand::labels}, before.first_wrong.all());
  print("Before it learns:\n\n");
  print_results(before, read_first_tests(lesson));

  print("The last layer learns the samples, one a step, by SGD at a rate of ", decimal(learning_rate), ":\n\n");
  train_and_print(before);
  print_results(read_tests(lesson), read_first_tests(lesson));

  print("The same, and after each sample a step with an image that the model was trained with, so that it does not forget:\n\n");
  train_and_recall();
  const Results after = read_tests(lesson), first_after = read_first_tests(lesson);
  print_results(after, first_after);
  print("What each digit of the new hand, by row, is read as:\n\n");
  print_tables(before, after);
  print_cost();
  return after.right > before.right && 100 * first_after.right >= 98 * first_after.images ? 0 : 1;
}
