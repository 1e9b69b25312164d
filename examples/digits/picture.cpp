// SPDX-License-Identifier: MIT
//
// Prints each pixel as two characters, since a character is about twice as high as it is wide.
#include "picture.hpp"

#include <cstddef>
#include <cstdint>

#include "../support/print.hpp"

namespace digits {
namespace {

using namespace support;

constexpr const char* edge = "│";
constexpr std::size_t picture_width = 2 * row_pixels;

const char* shade(std::uint8_t pixel) {
  if (pixel < 2) return "  ";
  if (pixel < 6) return "░░";
  if (pixel < 10) return "▒▒";
  if (pixel < 14) return "▓▓";
  return "██";
}

void print_row(const Pictures& pictures, std::size_t image, std::size_t row) {
  for (std::size_t column = 0; column < row_pixels; ++column) print(shade(pictures.pixels(image, row, column)));
  print(edge);
}

void print_caption(const Pictures& pictures, const Reading& reading) {
  const std::uint8_t written = pictures.labels(reading.image);
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

void print_readings(const Pictures& pictures, std::span<const Reading> readings) {
  for (std::size_t row = 0; row < num_tokens; ++row) {
    print(edge);
    for (const Reading& reading : readings) print_row(pictures, reading.image, row);
    print("\n");
  }
  print(edge);
  for (const Reading& reading : readings) print_caption(pictures, reading);
  print("\n\n");
}

}  // namespace digits
