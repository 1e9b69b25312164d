// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "images.hpp"

namespace digits {

// A table of images, and the digits that were written.
struct Pictures {
  const Pixels<360>& pixels;
  const Labels<360>& labels;
};

// Prints the images side by side, made of characters, each with the digit that the model reads.
void print_readings(const Pictures& pictures, std::span<const Reading> readings);

}  // namespace digits
