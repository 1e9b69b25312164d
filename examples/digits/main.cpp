// SPDX-License-Identifier: MIT
//
// Reads 360 handwritten digits that the model has never seen, and compares with what PyTorch made of them. The same source runs on
// the machine you sit at and as firmware; lines that start with "board:" depend on the machine, all others are the same everywhere.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../support/checksum.hpp"
#include "../support/print.hpp"
#include "board.h"
#include "held_out.hpp"
#include "model.hpp"
#include "picture.hpp"

namespace digits {
namespace {

using support::print;

constexpr std::size_t num_images = held_out::pixels.extent(0);
constexpr std::size_t images_a_line = 5;
constexpr float tolerance = 1e-5f;

// A few readings, to be shown.
class Readings {
 public:
  void add(Reading reading) {
    if (count_ < readings_.size()) readings_[count_++] = reading;
  }
  std::span<const Reading> all() const { return {readings_.data(), count_}; }

 private:
  std::array<Reading, images_a_line> readings_{};
  std::size_t count_ = 0;
};

struct Outcome {
  Readings first;
  Readings wrong;
  std::size_t right = 0;
  std::size_t as_pytorch = 0;
  float largest_difference = 0.0f;
  support::Checksum logits;
  unsigned long long ticks = 0;
};

Image image_at(std::size_t index) {
  Image image;
  for (std::size_t i = 0; i < num_tokens; ++i)
    for (std::size_t j = 0; j < row_pixels; ++j) image(i, j) = static_cast<float>(held_out::pixels(index, i, j)) / 16.0f;
  return image;
}

float largest_difference(const Logits& a, const Logits& b) {
  float largest = 0.0f;
  for (std::size_t digit = 0; digit < num_classes; ++digit) {
    const float difference = a(digit) - b(digit);
    const float distance = difference < 0.0f ? -difference : difference;
    if (!(distance <= largest)) largest = distance;
  }
  return largest;
}

void read(std::size_t index, Scratch& scratch, Outcome& outcome) {
  const Image image = image_at(index);
  const unsigned long long begin = board_ticks();
  const Logits logits = classify(image, scratch);
  outcome.ticks += board_ticks() - begin;

  const Logits by_pytorch = row(held_out::logits, index);
  const Reading reading{index, largest(logits)};
  const bool right = reading.digit == held_out::labels(index);
  outcome.first.add(reading);
  if (!right) outcome.wrong.add(reading);
  outcome.right += right;
  outcome.as_pytorch += reading.digit == largest(by_pytorch);
  const float difference = largest_difference(logits, by_pytorch);
  if (!(difference <= outcome.largest_difference)) outcome.largest_difference = difference;
  outcome.logits.add(logits.data(), logits.size());
}

}  // namespace
}  // namespace digits

int main() {
  using namespace digits;
  static Scratch scratch;
  static Outcome outcome;
  for (std::size_t i = 0; i < num_images; ++i) read(i, scratch, outcome);
  print("board: ", board_name, "\n");
  print_readings(outcome.first.all());
  print_readings(outcome.wrong.all());
  print("right ", outcome.right, " as pytorch ", outcome.as_pytorch, " diff ",
        support::integer(support::rounded_product(outcome.largest_difference, 1000000000)), "e-9\n");
  print("crc32 of all logits ", support::hexadecimal(outcome.logits.value()), "\n");
  print("board: ", std::size_t(board_instructions(outcome.ticks)) / num_images, " instructions an image\n");
  print("board: ", std::size_t{board_stack_used()}, " bytes of stack used at the deepest\n");
  return outcome.as_pytorch == num_images && outcome.largest_difference <= tolerance ? 0 : 1;
}
