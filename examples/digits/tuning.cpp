// SPDX-License-Identifier: MIT
#include "tuning.hpp"

#include "board.h"

namespace digits {
namespace {

using tinyattn::adapted;
using tinyattn::no_gradient;
using tinyattn::zero_grad;
using AllTokens = tinyattn::Matrix<float, 1, Hidden::size()>;

constexpr tinyattn::AdamW::Config config{.learning_rate = 1e-3f};

// Computes the classifier's input, scratch.attended, through the adapters.
void adapted_features(const Image& image, const Adapters& adapters, Scratch& scratch) {
  add(image, weights::position, scratch.x);
  adapted(weights::attention, adapters.attention).forward(scratch.x, scratch.attended, scratch.attention);
  adapted(weights::shortcut, adapters.shortcut).forward(scratch.x, scratch.shortcut);
  add(scratch.attended, scratch.shortcut, scratch.attended);
  relu(scratch.attended, scratch.attended);
}

auto all_tokens(const Hidden& hidden) { return tinyattn::MatrixView<const float, 1, Hidden::size(), Hidden::size()>{hidden.data()}; }

std::size_t digit_of(const Image& image, Tuning& tuning) {
  tinyattn::Matrix<float, 1, num_classes> logits;
  adapted_features(image, tuning.adapters, tuning.scratch);
  adapted(weights::classifier, tuning.adapters.classifier).forward(all_tokens(tuning.scratch.attended), logits);
  return argmax(row(logits, 0));
}

}  // namespace

void start(Tuning& tuning) {
  tinyattn::Philox4x32 generator(1);
  initialize(tuning.adapters, generator);
  zero_grad(tuning.gradient);
  zero_grad(tuning.state.mean);
  zero_grad(tuning.state.mean_of_squares);
  tuning.state.correction1 = tuning.state.correction2 = 0.0f;
}

float learn(Tuning& tuning, const Image& image, std::size_t digit) {
  const unsigned long long begin = board_ticks();
  auto& [adapters, gradient, state, scratch, workspace, steps, ticks] = tuning;
  tinyattn::Matrix<float, 1, num_classes> logits;
  const auto classifier = adapted(weights::classifier, adapters.classifier);
  adapted_features(image, adapters, scratch);
  classifier.forward(all_tokens(scratch.attended), logits);
  const float loss = cross_entropy(logits, digit, logits);

  tinyattn::MatrixView<float, 1, Hidden::size(), Hidden::size()> d_features{scratch.shortcut.data()};
  backward(classifier, all_tokens(scratch.attended), logits, d_features, gradient.classifier);
  relu_backward(scratch.attended, scratch.shortcut, scratch.shortcut);
  backward(adapted(weights::shortcut, adapters.shortcut), scratch.x, scratch.shortcut, no_gradient, gradient.shortcut);
  backward(adapted(weights::attention, adapters.attention), scratch.x, scratch.shortcut, no_gradient, gradient.attention, workspace);
  adamw_step(adapters, gradient, state, config);
  zero_grad(gradient);
  ticks += board_ticks() - begin;
  ++steps;
  return loss;
}

float learn_all_samples(Tuning& tuning) {
  float loss = 0.0f;
  for (std::size_t index = 0; index < num_samples; ++index) {
    loss += learn(tuning, image_at(hand::pixels, index), hand::labels(index));
    learn(tuning, image_at(hand::known_pixels, index), hand::known_labels(index));
  }
  return loss / static_cast<float>(num_samples);
}

Results read_tests(Tuning& tuning) {
  return read_from(num_samples, hand::pixels, hand::labels, [&](const Image& image) { return digit_of(image, tuning); });
}
Results read_first_tests(Tuning& tuning) {
  return read_from(0, held_out::pixels, held_out::labels, [&](const Image& image) { return digit_of(image, tuning); });
}

}  // namespace digits
