// SPDX-License-Identifier: MIT
//
// Images in constant tables: pixels [images, 8, 8] from 0, white, to 16, black, and labels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model.hpp"

namespace digits {

template <std::size_t Count>
using Pixels = tinyattn::Tensor<std::uint8_t, Count, num_tokens, row_pixels>;
template <std::size_t Count>
using Labels = tinyattn::Tensor<std::uint8_t, Count>;

template <std::size_t Count>
constexpr Image image_at(const Pixels<Count>& pixels, std::size_t index) {
  Image image;
  for (std::size_t i = 0; i < num_tokens; ++i)
    for (std::size_t j = 0; j < row_pixels; ++j) image(i, j) = static_cast<float>(pixels(index, i, j)) / 16.0f;
  return image;
}

struct Reading {
  std::size_t image;  // its index in the table
  std::size_t digit;  // the predicted digit
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

}  // namespace digits
