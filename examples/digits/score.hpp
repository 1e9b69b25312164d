// SPDX-License-Identifier: MIT
//
// Compares the model's results on the held-out images with the labels and with PyTorch's outputs.
#pragma once

#include <cstddef>

#include "../support/checksum.hpp"
#include "held_out.hpp"
#include "images.hpp"
#include "model.hpp"

namespace digits {

inline constexpr std::size_t num_images = held_out::pixels.extent(0);

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
