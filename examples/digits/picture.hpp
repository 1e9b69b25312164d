// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "score.hpp"

namespace digits {

// Prints the images side by side, made of characters, each with the digit that the model reads.
void print_readings(std::span<const Reading> readings);

}  // namespace digits
