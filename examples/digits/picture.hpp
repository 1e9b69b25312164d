// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "score.hpp"

namespace digits {

// The images side by side, made of characters, with what the model takes each for.
void print_readings(std::span<const Reading> readings);

}  // namespace digits
