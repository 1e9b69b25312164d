// SPDX-License-Identifier: MIT
//
// Prints each pixel as two characters, since a character is about twice as high as wide.
#include "picture.hpp"

#include <cstddef>
#include <cstdint>

#include "../support/print.hpp"

namespace digits {
namespace {

using namespace support;

constexpr const char* edge = "│";
constexpr std::size_t picture_width = 2 * held_out::pixels.extent(2);

const char* shade(std::uint8_t pixel) {
  if (pixel < 2) return "  ";
  if (pixel < 6) return "░░";
  if (pixel < 10) return "▒▒";
  if (pixel < 14) return "▓▓";
  return "██";
}

void print_row(std::size_t image, std::size_t row) {
  for (std::size_t column = 0; column < held_out::pixels.extent(2); ++column) print(shade(held_out::pixels(image, row, column)));
  print(edge);
}

void print_caption(const Reading& reading) {
  const std::uint8_t written = held_out::labels(reading.image);
  Text caption;
  caption.append(" reads ");
  caption.append(integer(reading.digit).c_str());
  if (reading.digit != written) {
    caption.append(", is ");
    caption.append(integer(written).c_str());
  }
  print(caption);
  print_spaces(picture_width - caption.length());
  print(edge);
}

}  // namespace

void print_readings(std::span<const Reading> readings) {
  for (std::size_t row = 0; row < held_out::pixels.extent(1); ++row) {
    print(edge);
    for (const Reading& reading : readings) print_row(reading.image, row);
    print("\n");
  }
  print(edge);
  for (const Reading& reading : readings) print_caption(reading);
  print("\n\n");
}

}  // namespace digits
