// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "images.hpp"

namespace digits {

// A table of images and their labels.
struct Pictures {
  const Pixels<360>& pixels;
  const Labels<360>& labels;
};

// Prints the images side by side in characters, each with the predicted digit.
void print_readings(const Pictures& pictures, std::span<const Reading> readings);

}  // namespace digits
