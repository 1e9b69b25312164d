// SPDX-License-Identifier: MIT
//
// Compares the model's results on the held-out images with the labels, and with what PyTorch computed.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "../support/checksum.hpp"
#include "held_out.hpp"
#include "model.hpp"

namespace digits {

inline constexpr std::size_t num_images = held_out::pixels.extent(0);

struct Reading {
  std::size_t image;  // which of the held-out images
  std::size_t digit;  // the digit that the model reads
};

// Keeps the first few readings, to print them side by side.
class FirstReadings {
 public:
  void add(Reading reading) {
    if (count_ < readings_.size()) readings_[count_++] = reading;
  }
  std::span<const Reading> all() const { return {readings_.data(), count_}; }

 private:
  std::array<Reading, 5> readings_{};
  std::size_t count_ = 0;
};

struct Score {
  FirstReadings first;
  FirstReadings first_wrong;
  std::size_t right = 0;
  std::size_t as_pytorch = 0;       // predictions that equal PyTorch's
  float largest_difference = 0.0f;  // between a logit and PyTorch's
  support::Checksum checksum;       // of all logits
  unsigned long long ticks = 0;     // spent in the model
};

void score_images(Score& score, Scratch& scratch);

}  // namespace digits
