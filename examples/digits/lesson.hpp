// SPDX-License-Identifier: MIT
//
// Trains the model's last layer on the board. The layers before it are frozen: constants in flash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../support/checksum.hpp"
#include "hand.hpp"
#include "held_out.hpp"
#include "images.hpp"
#include "tinyattn/training.hpp"

namespace digits {

inline constexpr std::size_t num_known = hand::known_pixels.extent(0);          // images from the training set
inline constexpr std::size_t num_samples = num_known;                           // of the new hand, to learn from
inline constexpr std::size_t num_tests = hand::pixels.extent(0) - num_samples;  // of the new hand, after the samples
inline constexpr std::size_t num_first_tests = held_out::pixels.extent(0);      // of the hands that the model was trained with
inline constexpr std::size_t num_epochs = 10;
inline constexpr float learning_rate = 0.03f;  // chosen by hand.py --validate, on other images

// All memory of the training.
struct Lesson {
  Classifier head;
  Classifier gradient;
  Scratch scratch;
  std::size_t steps = 0;
  unsigned long long ticks = 0;         // spent in steps
  unsigned long long frozen_ticks = 0;  // of these, in the layers that are not trained
};

// Results of reading images.
struct Results {
  std::array<std::array<std::uint16_t, num_classes>, num_classes> times{};  // by the written and the predicted digit
  std::size_t images = 0;
  std::size_t right = 0;
  FirstReadings first_wrong;
};

// Reads the images of a table from `first` on: digit = read(image).
template <std::size_t Count>
Results read_from(std::size_t first, const Pixels<Count>& pixels, const Labels<Count>& labels, const auto& read) {
  Results results;
  for (std::size_t index = first; index < Count; ++index) {
    const std::size_t digit = read(image_at(pixels, index));
    ++results.times[labels(index)][digit];
    ++results.images;
    if (digit == labels(index))
      ++results.right;
    else
      results.first_wrong.add({index, digit});
  }
  return results;
}

// Returns the CRC-32 of all weights of a module.
std::uint32_t checksum_of(const auto& module) {
  support::Checksum checksum;
  tinyattn::for_each_parameter(module, [&](const char*, const auto& parameter) { checksum.add(parameter.data(), parameter.size()); });
  return checksum.value();
}

// Starts from the trained model.
void start(Lesson& lesson);

// Trains on one image and its label. Returns the loss before the step.
float learn(Lesson& lesson, const Image& image, std::size_t digit);

// Trains on each sample; if the lesson `recalls`, also on an image from the original training set after each. Returns the mean loss of the
// samples, each before its step.
float learn_all_samples(Lesson& lesson, bool recalls);

// Reads the new hand's test images, and the original test set.
Results read_tests(Lesson& lesson);
Results read_first_tests(Lesson& lesson);

}  // namespace digits
