// SPDX-License-Identifier: MIT
//
// A pixel is two characters wide, since a character is about twice as high as wide.
#include "picture.hpp"

#include <cstdint>

#include "../support/print.hpp"
#include "held_out.hpp"

namespace digits {
namespace {

using namespace support;

constexpr std::size_t gap = 3;
constexpr std::size_t picture_width = 2 * held_out::pixels.extent(2);

const char* shade(std::uint8_t pixel) {
  if (pixel < 2) return "  ";
  if (pixel < 6) return "░░";
  if (pixel < 10) return "▒▒";
  if (pixel < 14) return "▓▓";
  return "██";
}

void print_row(std::size_t image, std::size_t row) {
  print_spaces(gap);
  for (std::size_t column = 0; column < held_out::pixels.extent(2); ++column) print(shade(held_out::pixels(image, row, column)));
}

void print_caption(const Reading& reading) {
  const std::uint8_t written = held_out::labels(reading.image);
  Text caption;
  caption.append("reads ");
  caption.append(integer(reading.digit).c_str());
  if (reading.digit != written) {
    caption.append(", is ");
    caption.append(integer(written).c_str());
  }
  print_spaces(gap);
  print(caption);
  print_spaces(picture_width - caption.length());
}

}  // namespace

void print_readings(std::span<const Reading> readings) {
  for (std::size_t row = 0; row < held_out::pixels.extent(1); ++row) {
    for (const Reading& reading : readings) print_row(reading.image, row);
    print("\n");
  }
  for (const Reading& reading : readings) print_caption(reading);
  print("\n\n");
}

}  // namespace digits
