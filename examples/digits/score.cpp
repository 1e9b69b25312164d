// SPDX-License-Identifier: MIT
#include "score.hpp"

#include "board.h"

namespace digits {
namespace {

// Returns the maximum; NaN counts as larger than any number.
float larger(float a, float b) { return b <= a || a != a ? a : b; }

float distance(float a, float b) { return a < b ? b - a : a - b; }

Logits timed_logits(std::size_t index, Score& score, Scratch& scratch) {
  const Image image = image_at(held_out::pixels, index);
  const unsigned long long begin = board_ticks();
  const Logits logits = classify(image, scratch);
  score.ticks += board_ticks() - begin;
  return logits;
}

}  // namespace

void score_images(Score& score, Scratch& scratch) {
  for (std::size_t index = 0; index < num_images; ++index) {
    const Logits logits = timed_logits(index, score, scratch);
    const Logits logits_of_pytorch = row(held_out::logits, index);
    const Reading reading{index, argmax(logits)};
    const bool is_right = reading.digit == held_out::labels(index);

    score.first.add(reading);
    if (!is_right) score.first_wrong.add(reading);
    score.right += is_right ? 1 : 0;
    score.as_pytorch += reading.digit == argmax(logits_of_pytorch) ? 1 : 0;
    for (std::size_t digit = 0; digit < num_classes; ++digit)
      score.largest_difference = larger(score.largest_difference, distance(logits(digit), logits_of_pytorch(digit)));
    score.checksum.add(logits.data(), logits.size());
  }
}

}  // namespace digits
