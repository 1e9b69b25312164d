// SPDX-License-Identifier: MIT
//
// Trains adapters (LoRA) of all layers on the board. The model itself stays as it is, constants in flash: without its adapters it computes
// what it did before.
#pragma once

#include <cstddef>

#include "lesson.hpp"
#include "tinyattn/training.hpp"

namespace digits {

inline constexpr tinyattn::LoraConfig lora{.rank = 4, .alpha = 8, .query = true, .key = true, .value = true, .output = true};

struct Adapters {
  tinyattn::Adapters<Attention, lora> attention;
  tinyattn::Adapters<std::remove_const_t<decltype(weights::shortcut)>, lora> shortcut;
  tinyattn::Adapters<Classifier, lora> classifier;

  using Parts = tinyattn::Parameters<&Adapters::attention, &Adapters::shortcut, &Adapters::classifier>;
};
inline constexpr std::size_t adapter_count = sizeof(Adapters) / sizeof(float);  // of weights

// All memory of the training.
struct Tuning {
  Adapters adapters;
  Adapters gradient;
  tinyattn::AdamW::State<Adapters> state;
  Scratch scratch;
  tinyattn::BackwardWorkspace<Attention> backward;
  std::size_t steps = 0;
  unsigned long long ticks = 0;  // spent in steps
};

// Starts with adapters that change nothing.
void start(Tuning& tuning);

// Trains on one image and its label. Returns the loss before the step.
float learn(Tuning& tuning, const Image& image, std::size_t digit);

// Trains on each sample, and after each on an image from the original training set. Returns the mean loss of the samples, each before its
// step.
float learn_all_samples(Tuning& tuning);

// Reads the new hand's test images, and the original test set.
Results read_tests(Tuning& tuning);
Results read_first_tests(Tuning& tuning);

}  // namespace digits
