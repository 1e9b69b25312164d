// SPDX-License-Identifier: MIT
//
// Trains adapters (LoRA) of all layers on the board. The model itself stays as it is, constants in flash: without its adapters it reads
// what it read.
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

// All that training takes.
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

// Makes a step with an image on which someone wrote a digit. Returns the loss before the step.
float learn(Tuning& tuning, const Image& image, std::size_t digit);

// Makes a step with each of the samples, and after each one with an image that the model was trained with. Returns the mean loss of the
// samples, each before its step.
float learn_all_samples(Tuning& tuning);

// Reads the images of the new hand that it does not learn from; and those of the first test set.
Results read_tests(Tuning& tuning);
Results read_first_tests(Tuning& tuning);

}  // namespace digits
