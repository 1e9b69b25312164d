// SPDX-License-Identifier: MIT
#include "lesson.hpp"

#include "board.h"

namespace digits {
namespace {

using tinyattn::no_gradient;

std::size_t digit_of(const Image& image, Lesson& lesson) { return argmax(classify(image, lesson.scratch, lesson.head)); }

}  // namespace

void start(Lesson& lesson) {
  lesson.head = weights::classifier;
  zero_grad(lesson.gradient);
}

float learn(Lesson& lesson, const Image& image, std::size_t digit) {
  const unsigned long long begin = board_ticks();
  const auto x = features(image, lesson.scratch);
  const unsigned long long computed = board_ticks();
  auto logits = lesson.head(x);
  const float loss = cross_entropy(logits, digit, logits);
  backward(lesson.head, x, logits, no_gradient, lesson.gradient);
  sgd_step(lesson.head, lesson.gradient, {.learning_rate = learning_rate});
  zero_grad(lesson.gradient);
  lesson.frozen_ticks += computed - begin;
  lesson.ticks += board_ticks() - begin;
  ++lesson.steps;
  return loss;
}

float learn_all_samples(Lesson& lesson, bool recalls) {
  float loss = 0.0f;
  for (std::size_t index = 0; index < num_samples; ++index) {
    loss += learn(lesson, image_at(hand::pixels, index), hand::labels(index));
    if (recalls) learn(lesson, image_at(hand::known_pixels, index), hand::known_labels(index));
  }
  return loss / static_cast<float>(num_samples);
}

Results read_tests(Lesson& lesson) {
  return read_from(num_samples, hand::pixels, hand::labels, [&](const Image& image) { return digit_of(image, lesson); });
}
Results read_first_tests(Lesson& lesson) {
  return read_from(0, held_out::pixels, held_out::labels, [&](const Image& image) { return digit_of(image, lesson); });
}

}  // namespace digits
